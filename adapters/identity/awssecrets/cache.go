package awssecrets

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Cache caches a value that is parsed from a text stored elsewhere, such as a secret. Get reads the text again if the
// value is too old. A Cache is safe for concurrent use.
//
// A Cache uses no timer, because a Lambda function is frozen between requests.
type Cache[T any] struct {
	Options[T]
	mu     sync.Mutex
	value  T
	text   string
	known  bool
	loaded time.Time // time of the last successful read
	tried  time.Time // time of the last attempt to read
	err    error
}

// Options configure a [Cache].
type Options[T any] struct {
	// Name identifies the text in log messages.
	Name string
	// Read reads the text.
	Read func(ctx context.Context) (string, error)
	// Parse converts a text to a value. It is called only if the text has changed. The parameter old is the previous
	// value, or the zero T in the first call.
	//
	// The errors of Parse and Read are logged, so they must not contain secrets.
	Parse func(old T, text string) (T, error)
	// Refresh is the age at which the text is read again. MaxStale is the age at which a value expires if the text
	// cannot be read.
	Refresh, MaxStale time.Duration
	Log               *slog.Logger
	Now               func() time.Time
}

// retryPause is the minimum time between a failed attempt and the next attempt.
const retryPause = 5 * time.Second

// Get returns the value. If the value is too old, Get reads the text first. If several calls need the text at the same
// time, one of them reads it, and the others wait.
func (c *Cache[T]) Get(ctx context.Context) (T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.Now()
	age := elapsed(now, c.loaded)
	// If the clock was set back, the age is negative. The text is then read again, because the real age of the value is
	// unknown.
	if c.known && age >= 0 && age < c.Refresh {
		return c.value, nil
	}
	if ago := elapsed(now, c.tried); c.err == nil || ago < 0 || ago >= retryPause {
		c.tried = now
		if c.err = c.read(ctx); c.err == nil {
			c.loaded = now
			return c.value, nil
		}
		c.Log.Error("a secret cannot be read", "what", c.Name, "cause", c.err, "known", c.known)
	}
	if c.known && age >= 0 && age < c.MaxStale {
		return c.value, nil
	}
	var none T
	c.value, c.text, c.known = none, "", false
	return none, c.err
}

// elapsed returns the time between two readings of the clock, as measured by the wall clock or the monotonic clock,
// whichever advanced further. The monotonic clock stops while the machine is frozen.
func elapsed(now, then time.Time) time.Duration {
	return max(now.Sub(then), now.Round(0).Sub(then.Round(0)))
}

func (c *Cache[T]) read(ctx context.Context) error {
	text, err := c.Read(ctx)
	if err != nil || c.known && text == c.text {
		return err
	}
	value, err := c.Parse(c.value, text)
	if err != nil {
		return err
	}
	c.value, c.text, c.known = value, text, true
	c.Log.Info("a secret was read", "what", c.Name)
	return nil
}
