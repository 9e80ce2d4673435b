package explorer

import (
	"crypto/rand"
	"crypto/sha256"
	"sync"
)

// tokenHeader carries a token. A page of another origin cannot send it, and no
// link or form can.
const tokenHeader = "X-Edgetable-Explorer"

// sessions are the browsers that showed a one-time token.
type sessions struct {
	mu   sync.Mutex
	once [sha256.Size]byte // hash of the token that opens the next one
	open map[[sha256.Size]byte]bool
}

// invite returns a new one-time token. The one before is worth nothing from now on.
func (s *sessions) invite() string {
	token := rand.Text() + rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.once = sha256.Sum256([]byte(token))
	return token
}

// begin exchanges a one-time token for that of a session.
func (s *sessions) begin(token string) (session string, ok bool) {
	sum := sha256.Sum256([]byte(token)) // hashes are compared: their time says nothing
	s.mu.Lock()
	defer s.mu.Unlock()
	if sum != s.once || token == "" {
		return "", false
	}
	s.once = [sha256.Size]byte{}
	session = rand.Text() + rand.Text()
	if s.open == nil {
		s.open = map[[sha256.Size]byte]bool{}
	}
	s.open[sha256.Sum256([]byte(session))] = true
	return session, true
}

// known reports whether a token is that of a session.
func (s *sessions) known(token string) bool {
	sum := sha256.Sum256([]byte(token))
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[sum]
}
