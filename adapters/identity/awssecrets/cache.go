package awssecrets

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Cache keeps the value of a text that is stored elsewhere and may change. Nothing is read
// before the first Get, and later only when a Get finds that the text has become
// old: there is no timer, so that a process that is frozen between requests, as
// a Lambda function is, reads again as soon as it is thawed.
//
// It is safe for concurrent use.
type Cache[T any] struct {
	Options[T]
	mu     sync.Mutex
	value  T
	text   string
	known  bool      // there is a value
	loaded time.Time // when it was read
	tried  time.Time // when that was last attempted
	err    error     // of the last attempt
}

// Options configure a [Cache].
type Options[T any] struct {
	// Name names the text in the log.
	Name string
	// Read fetches the text.
	Read func(ctx context.Context) (string, error)
	// Parse makes the value of a text that is another one than before; old is the
	// last value, at first the zero T. Neither its error nor that of Read may have
	// a secret in it: they are logged.
	Parse func(old T, text string) (T, error)
	// Refresh is the age at which the text is read again, Stale the one beyond
	// which its value is no longer used if that fails. A key that was taken out
	// of a text opens nothing after Refresh, or after Stale at the latest.
	Refresh, Stale time.Duration
	Log            *slog.Logger
	Now            func() time.Time
}

// again is the pause after a failed attempt.
const again = 5 * time.Second

// Get returns the value, and first reads the text again if the value is too old. Of
// several calls at the same time one reads.
func (c *Cache[T]) Get(ctx context.Context) (T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.Now()
	age := since(now, c.loaded)
	// A clock that was set back says nothing about the age.
	if c.known && age >= 0 && age < c.Refresh {
		return c.value, nil
	}
	if ago := since(now, c.tried); c.err == nil || ago < 0 || ago >= again {
		c.tried = now
		if c.err = c.read(ctx); c.err == nil {
			c.loaded = now
			return c.value, nil
		}
		c.Log.Error("a secret cannot be read", "what", c.Name, "cause", c.err, "known", c.known)
	}
	if c.known && age >= 0 && age < c.Stale {
		return c.value, nil
	}
	var none T
	c.value, c.text, c.known = none, "", false
	return none, c.err
}

// since returns the longer of the monotonic and the wall clock's difference: while
// a machine is frozen its monotonic clock stands still.
func since(now, then time.Time) time.Duration {
	return max(now.Sub(then), now.Round(0).Sub(then.Round(0)))
}

// read replaces the value by what the text says now.
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
