package explorer

import (
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"
)

// tokenHeader is the name of the header that contains a token. Neither a page of another origin nor a link or a form
// can send this header.
const tokenHeader = "X-Edgetable-Explorer"

// sessions manages the one-time token, and the sessions of the browser windows that have used such a token.
type sessions struct {
	// linkFor is how long a one-time token is valid. sessionFor is how long a session is valid. 0 means until the
	// process ends.
	linkFor, sessionFor time.Duration
	now                 func() time.Time

	mu    sync.Mutex
	once  [sha256.Size]byte // hash of the one-time token
	until time.Time         // expiry of the one-time token
	open  map[[sha256.Size]byte]time.Time
}

// end returns the expiry time of a token that is issued now. The argument is the duration for which the token is valid.
// If the argument is 0, the token never expires, and end returns the zero Time.
func (s *sessions) end(after time.Duration) time.Time {
	if after == 0 {
		return time.Time{}
	}
	return s.now().Add(after)
}

// over reports whether an expiry time is in the past. It is false for the zero Time, which means that a token never
// expires.
func (s *sessions) over(end time.Time) bool { return !end.IsZero() && !s.now().Before(end) }

// invite returns a new one-time token. The previous token becomes invalid.
func (s *sessions) invite() string {
	token := rand.Text() + rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.once, s.until = sha256.Sum256([]byte(token)), s.end(s.linkFor)
	return token
}

// begin exchanges the one-time token for the token of a new session.
func (s *sessions) begin(token string) (session string, ok bool) {
	sum := sha256.Sum256([]byte(token)) // hashes are compared, so the duration of the comparison reveals nothing about the token
	s.mu.Lock()
	defer s.mu.Unlock()
	if sum != s.once || token == "" || s.over(s.until) {
		return "", false
	}
	s.once = [sha256.Size]byte{}
	session = rand.Text() + rand.Text()
	if s.open == nil {
		s.open = map[[sha256.Size]byte]time.Time{}
	}
	for one, end := range s.open {
		if s.over(end) {
			delete(s.open, one)
		}
	}
	s.open[sha256.Sum256([]byte(session))] = s.end(s.sessionFor)
	return session, true
}

// isSession reports whether a token is that of a session.
func (s *sessions) isSession(token string) bool {
	sum := sha256.Sum256([]byte(token))
	s.mu.Lock()
	defer s.mu.Unlock()
	end, ok := s.open[sum]
	return ok && !s.over(end)
}
