package oidc

import (
	"log/slog"
	"sync"
	"time"
)

// again is the least time between two lines of the log that the keys cannot be read.
const again = 10 * time.Second

// keyLog says in the log how attempts to read the keys end: why one failed, and
// that the first one after it did not.
type keyLog struct {
	log    *slog.Logger // nil does not log
	issuer string

	mu   sync.Mutex
	said time.Time // of the last failure, zero if an attempt succeeded since
}

func (l *keyLog) note(err error, now time.Time) {
	if l.log == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil && !l.said.IsZero():
		l.said = time.Time{}
		l.log.Info("the keys of the token issuer can be read again", "issuer", l.issuer)
	case err != nil && (l.said.IsZero() || now.Sub(l.said) >= again):
		l.said = now
		l.log.Warn("the keys of the token issuer cannot be read; tokens that need them are refused with 503", "issuer", l.issuer, "cause", err)
	}
}
