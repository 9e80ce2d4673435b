package oidc

import (
	"log/slog"
	"sync"
	"time"
)

// logPause is the minimum time between two log lines about keys that cannot be read.
const logPause = 10 * time.Second

// keyLog logs the results of attempts to read the keys: failures, and the first success after a failure.
type keyLog struct {
	log    *slog.Logger // nil disables logging
	issuer string

	mu   sync.Mutex
	said time.Time // time at which a failure was last logged; zero if none was logged since the last success
}

func (l *keyLog) logChange(err error, now time.Time) {
	if l.log == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil && !l.said.IsZero():
		l.said = time.Time{}
		l.log.Info("the keys of the token issuer can be read again", "issuer", l.issuer)
	case err != nil && (l.said.IsZero() || now.Sub(l.said) >= logPause):
		l.said = now
		l.log.Warn("the keys of the token issuer cannot be read; tokens that need them are refused with 503", "issuer", l.issuer, "cause", err)
	}
}
