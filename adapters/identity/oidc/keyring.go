package oidc

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

const (
	timeout = 5 * time.Second  // of an attempt to read the keys: one that hangs delays the next
	wait    = 2 * time.Second  // of a token for an attempt: strangers make up keys, and what waits takes places
	pause   = 10 * time.Second // between the end of an attempt and the next, if there are keys
	retry   = time.Second      // between a failed attempt and the next, if a token needs it: clients give up after 6 s
	refresh = time.Hour        // age at which keys are read again
	hold    = 24 * time.Hour   // age at which keys do not count any more
	waiters = 64               // tokens that wait for an attempt; others are told to come again
)

// keys are the issuer's keys as they were at one moment, with the tokens that
// they have verified; those do not outlive them, as one may be withdrawn.
type keys struct {
	list     []jose.JSONWebKey
	at       time.Time
	verified verified
}

// signed is nil if one of the keys has signed the token, errSignature if the one
// that it names has not, and errKey if that is none of them. A token without a key
// id may be signed with any of them; it may name a new one as well as an old.
func (k *keys) signed(t *jwt.JSONWebToken) error {
	h, err := t.Headers[0], errKey
	for i := range k.list {
		key := &k.list[i]
		if h.KeyID != "" {
			if key.KeyID != h.KeyID {
				continue
			}
			err = errSignature
		}
		if (key.Algorithm == "" || key.Algorithm == h.Algorithm) && t.Claims(key) == nil {
			return nil
		}
	}
	return err
}

// keyring holds the keys and reads them again in time, one attempt at once.
type keyring struct {
	ctx  context.Context // of reading: no request's, as others wait for the same keys
	read func(context.Context) ([]jose.JSONWebKey, error)
	now  func() time.Time
	log  keyLog

	// within bounds a wait: context.WithTimeout. Tests with real sockets wait without a limit.
	within func(context.Context, time.Duration) (context.Context, context.CancelFunc)

	mu      sync.Mutex
	held    *keys         // nil before the first success
	running chan struct{} // closed at the end of the attempt; nil while there is none
	waiting int           // tokens that wait for it
	ended   time.Time     // the last attempt, zero before the first
	err     error         // of the last attempt
}

// young is what to verify with, nil if there are no keys or they are too old. It
// never waits: keys that are due are read again while they serve on.
func (r *keyring) young() *keys {
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held != nil {
		switch age := now.Sub(r.held.at); {
		case age >= hold:
			r.held = nil
		case age >= refresh:
			r.begin(now, pause)
		}
	}
	return r.held
}

// after returns keys younger than old, which may be nil. It waits for the attempt
// to read them, one that runs or, if the pause is over, a new one, unless enough others
// wait for it. The error is errUnavailable if the last attempt failed, or nothing is known
// yet, and errKey if it is too soon for another.
func (r *keyring) after(ctx context.Context, old *keys) (*keys, error) {
	r.mu.Lock()
	least := pause
	if r.err != nil {
		least = retry
	}
	running := r.begin(r.now(), least)
	if running != nil {
		if r.waiting >= waiters {
			r.mu.Unlock()
			return nil, fmt.Errorf("%w: %w", errUnavailable, errCrowd)
		}
		r.waiting++
		r.mu.Unlock()
		var late error
		select {
		case <-running:
		case <-ctx.Done():
			late = fmt.Errorf("%w: %w", errUnavailable, context.Cause(ctx))
		}
		r.mu.Lock()
		if r.waiting--; late != nil {
			r.mu.Unlock()
			return nil, late
		}
	}
	defer r.mu.Unlock()
	switch {
	case r.held != nil && r.held != old:
		return r.held, nil
	case r.err != nil:
		return nil, fmt.Errorf("%w: %w", errUnavailable, r.err)
	}
	return nil, errKey
}

// begin starts an attempt unless one runs or the last one ended less than a pause
// ago. It returns the end of the one that runs, nil if there is none. r.mu is held.
func (r *keyring) begin(now time.Time, pause time.Duration) <-chan struct{} {
	if r.running != nil {
		return r.running
	}
	if !r.ended.IsZero() && now.Sub(r.ended) < pause {
		return nil
	}
	done := make(chan struct{})
	r.running = done
	go func() {
		ctx, cancel := r.within(r.ctx, timeout)
		defer cancel()
		list, err := r.read(ctx)
		if r.ctx.Err() == nil {
			r.log.note(err, r.now())
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.ended, r.err = r.now(), err; err == nil {
			r.held = &keys{list: list, at: r.ended}
		}
		r.running = nil
		close(done)
	}()
	return done
}
