package explorer

import (
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"
)

// tokenHeader is the header for tokens. A page of another origin cannot send this header, and neither can a link or a
// form.
const tokenHeader = "X-Edgetable-Explorer"

// sessions manages the one-time token and the sessions of browser windows that have used one.
type sessions struct {
	// linkFor and sessionFor are how long a one-time token and a session are valid; 0 means until the process ends.
	linkFor, sessionFor time.Duration
	now                 func() time.Time

	mu    sync.Mutex
	once  [sha256.Size]byte // hash of the token that can begin a session
	until time.Time         // when this token expires
	open  map[[sha256.Size]byte]time.Time
}

// end returns the time at which a token that begins now expires, or the zero Time for never.
func (s *sessions) end(after time.Duration) time.Time {
	if after == 0 {
		return time.Time{}
	}
	return s.now().Add(after)
}

// over reports whether a time returned by end has passed.
func (s *sessions) over(end time.Time) bool { return !end.IsZero() && !s.now().Before(end) }

// invite returns a new one-time token. The previous one becomes invalid.
func (s *sessions) invite() string {
	token := rand.Text() + rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.once, s.until = sha256.Sum256([]byte(token)), s.end(s.linkFor)
	return token
}

// begin exchanges a one-time token for the token of a session.
func (s *sessions) begin(token string) (session string, ok bool) {
	sum := sha256.Sum256([]byte(token)) // only hashes are compared, so the time of the comparison reveals nothing about the token
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

// known reports whether a token is that of a session.
func (s *sessions) isSession(token string) bool {
	sum := sha256.Sum256([]byte(token))
	s.mu.Lock()
	defer s.mu.Unlock()
	end, ok := s.open[sum]
	return ok && !s.over(end)
}
