package accounts

import (
	"context"
	"crypto/hmac"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"edgetable/core/protocol"
	"edgetable/core/sharedkey"
)

// Cache keeps the accounts of a text that lives elsewhere. Nothing is read
// before the first Load, and later only when a Load finds that the accounts
// have become old: there is no timer, so that a process that is frozen between
// requests, as in a Lambda function, reads anew as soon as it is thawed.
//
// It is safe for concurrent use.
type Cache struct {
	Options
	mu     sync.Mutex
	list   List
	text   string
	loaded time.Time // when list was read
	tried  time.Time // when it was last attempted
	err    error     // of the last attempt
}

// Options of a [Cache].
type Options struct {
	// Read fetches the text.
	Read func(ctx context.Context) (string, error)
	// Refresh is the age at which accounts are read anew, Stale the one beyond
	// which they are no longer used if that fails. A key that was taken out of
	// the text opens nothing after Refresh, or after Stale at the latest.
	Refresh, Stale time.Duration
	// Development lets the development account in, whose key everybody knows.
	Development bool
	Log         *slog.Logger
	Now         func() time.Time
}

// again is how long a failure is not followed by another attempt.
const again = 5 * time.Second

// Load makes sure that there are accounts and that they are not too old. Of
// several Loads at once one reads. Its error never has a key in it.
func (c *Cache) Load(ctx context.Context) (List, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.Now()
	age := now.Sub(c.loaded)
	// A clock that was set back says nothing about the age.
	if c.list != nil && age >= 0 && age < c.Refresh {
		return c.list, nil
	}
	if since := now.Sub(c.tried); c.err == nil || since < 0 || since >= again {
		c.tried = now
		if c.err = c.read(ctx); c.err == nil {
			c.loaded = now
			return c.list, nil
		}
		c.Log.Error("the accounts cannot be read", "cause", c.err, "known", len(c.list), "age", age)
	}
	if c.list != nil && age >= 0 && age < c.Stale {
		return c.list, nil
	}
	c.list, c.text = nil, ""
	return nil, c.err
}

// Find is an account of those that were loaded last: protocol.Handler.Accounts.
func (c *Cache) Find(name string) (*protocol.Account, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.list.Find(name)
}

// read replaces the list by what the text says now.
func (c *Cache) read(ctx context.Context) error {
	text, err := c.Read(ctx)
	if err != nil {
		return err
	}
	if c.list != nil && text == c.text {
		return nil
	}
	list, err := Parse(text)
	switch {
	case err != nil:
		return fmt.Errorf("accounts: %w", err)
	case len(list) == 0:
		return errors.New("accounts: the text names no account")
	case list.HasDevelopmentKey() && !c.Development:
		return errors.New("accounts: the development account's key is known to everybody: give accounts keys of their own")
	}
	// The protocol keeps things with an account, as long as it is what it was.
	for name, was := range c.list {
		if is := list[name]; is != nil && same(was, is) {
			list[name] = was
		}
	}
	c.list, c.text = list, text
	c.Log.Info("accounts were read", "accounts", len(list))
	return nil
}

// same compares accounts of one name.
func same(a, b *protocol.Account) bool {
	return a.Disabled == b.Disabled &&
		slices.Equal(a.Firewall.Allow, b.Firewall.Allow) && slices.Equal(a.Firewall.Deny, b.Firewall.Deny) &&
		sameKey(a.Keys[0], b.Keys[0]) && sameKey(a.Keys[1], b.Keys[1])
}

// sameKey compares what keys do, as they do not tell what they are.
func sameKey(a, b *sharedkey.Key) bool {
	if a == nil || b == nil {
		return a == b
	}
	return hmac.Equal([]byte(a.Sign("")), []byte(b.Sign("")))
}
