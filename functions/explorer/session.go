package explorer

import (
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"
)

// tokenHeader is the header with a token. Pages of other origins, links and forms cannot send it.
const tokenHeader = "X-Edgetable-Explorer"

// sessions manages the one-time token and the sessions of browser windows.
type sessions struct {
	// linkFor and sessionFor are the lifetimes of a one-time token and of a session. If a lifetime is 0, the token is
	// valid until the process ends.
	linkFor, sessionFor time.Duration
	now                 func() time.Time

	mu    sync.Mutex
	once  [sha256.Size]byte // hash of the one-time token
	until time.Time         // expiry of the one-time token
	open  map[[sha256.Size]byte]time.Time
}

// end returns the expiry time of a token with the given lifetime, or the zero Time for a lifetime of 0.
func (s *sessions) end(after time.Duration) time.Time {
	if after == 0 {
		return time.Time{}
	}
	return s.now().Add(after)
}

// hasExpired returns true if the given expiry time has passed. The zero Time never passes.
func (s *sessions) hasExpired(end time.Time) bool { return !end.IsZero() && !s.now().Before(end) }

// invite returns a new one-time token and invalidates the previous one.
func (s *sessions) invite() string {
	token := rand.Text() + rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.once, s.until = sha256.Sum256([]byte(token)), s.end(s.linkFor)
	return token
}

// exchangeToken exchanges the one-time token for a session token.
func (s *sessions) exchangeToken(token string) (session string, ok bool) {
	sum := sha256.Sum256([]byte(token)) // comparing hashes reveals nothing about the token through timing
	s.mu.Lock()
	defer s.mu.Unlock()
	if sum != s.once || token == "" || s.hasExpired(s.until) {
		return "", false
	}
	s.once = [sha256.Size]byte{}
	session = rand.Text() + rand.Text()
	if s.open == nil {
		s.open = map[[sha256.Size]byte]time.Time{}
	}
	for one, end := range s.open {
		if s.hasExpired(end) {
			delete(s.open, one)
		}
	}
	s.open[sha256.Sum256([]byte(session))] = s.end(s.sessionFor)
	return session, true
}

func (s *sessions) isSession(token string) bool {
	sum := sha256.Sum256([]byte(token))
	s.mu.Lock()
	defer s.mu.Unlock()
	end, ok := s.open[sum]
	return ok && !s.hasExpired(end)
}
