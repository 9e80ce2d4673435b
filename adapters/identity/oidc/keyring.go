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
	timeout = 5 * time.Second  // limit of one attempt to read the keys; it is short, because only one attempt runs at a time
	wait    = 2 * time.Second  // limit of a token's wait for the keys; it is short, because anyone can invent key ids, and a waiting request occupies a slot
	pause   = 10 * time.Second // minimum time from one attempt to read the keys to the next attempt
	retry   = time.Second      // minimum time after a failed attempt, if a token needs the keys; it is short, because clients give up after 6 s
	refresh = time.Hour        // age at which keys are read again
	hold    = 24 * time.Hour   // age at which keys are no longer used
	waiters = 64               // maximum number of tokens that wait for the keys; the clients of other tokens must retry
)

// keys contains the issuer's keys as they were read at one time, and the tokens that they have verified. Newer keys
// must verify these tokens again.
type keys struct {
	list     []jose.JSONWebKey
	at       time.Time
	verified tokenCache
}

// verifySignature returns nil if one of the keys signed the token. The other results are:
//   - errSignature: the key that the token names did not sign it.
//   - errKey: the token names an unknown key, or it names no key and none of the keys signed it.
func (k *keys) verifySignature(t *jwt.JSONWebToken) error {
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

// keyring contains the issuer's keys, and reads them again when they get old. Only one read runs at a time.
type keyring struct {
	ctx  context.Context // context for reading keys; not the context of a request, because several requests may wait for the same read
	read func(context.Context) ([]jose.JSONWebKey, error)
	now  func() time.Time
	log  keyLog

	// withTimeout is context.WithTimeout, or in tests with real sockets a function that sets no timeout.
	withTimeout func(context.Context, time.Duration) (context.Context, context.CancelFunc)

	mu      sync.Mutex
	held    *keys         // nil before the first successful read
	running chan struct{} // channel that is closed when the running attempt ends; nil if no attempt is running
	waiting int
	ended   time.Time // end of the last read; zero before the first read
	err     error
}

// currentKeys returns the current keys, or nil if there are none or they are too old. It does not wait: it starts a
// read in the background if the keys should be refreshed.
func (r *keyring) currentKeys() *keys {
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held != nil {
		switch age := now.Sub(r.held.at); {
		case age >= hold:
			r.held = nil
		case age >= refresh:
			r.startRead(now, pause)
		}
	}
	return r.held
}

// newerKeys waits for keys that are newer than old, which may be nil.
//
// The error is errUnavailable if the keys cannot be read or too many tokens are waiting. It is errKey if the keys were
// read too recently to read them again.
func (r *keyring) newerKeys(ctx context.Context, old *keys) (*keys, error) {
	r.mu.Lock()
	least := pause
	if r.err != nil {
		least = retry
	}
	running := r.startRead(r.now(), least)
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

// startRead starts a read, unless one is running or the last one ended less than pause ago. It returns a channel that
// is closed when the read ends, or nil if none is running. r.mu must be held.
func (r *keyring) startRead(now time.Time, pause time.Duration) <-chan struct{} {
	if r.running != nil {
		return r.running
	}
	if !r.ended.IsZero() && now.Sub(r.ended) < pause {
		return nil
	}
	done := make(chan struct{})
	r.running = done
	go func() {
		ctx, cancel := r.withTimeout(r.ctx, timeout)
		defer cancel()
		list, err := r.read(ctx)
		if r.ctx.Err() == nil {
			r.log.logChange(err, r.now())
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
