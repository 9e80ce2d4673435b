package oidc

import (
	"crypto/sha256"
	"sync"
	"time"
)

const maxVerified = 1024

// tokenCache maps the hash of a verified token to the identity in the token. It is safe for concurrent use.
type tokenCache struct {
	mu   sync.RWMutex
	list map[[sha256.Size]byte]identity
}

func (v *tokenCache) get(token [sha256.Size]byte, now time.Time) (identity, bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	id, ok := v.list[token]
	return id, ok && now.Before(id.Expiry)
}

// put adds a token. If the cache is full, put removes an arbitrary other token, which is verified again at its next
// use.
func (v *tokenCache) put(token [sha256.Size]byte, id identity) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.list == nil {
		v.list = make(map[[sha256.Size]byte]identity)
	}
	if len(v.list) >= maxVerified {
		for other := range v.list {
			delete(v.list, other)
			break
		}
	}
	v.list[token] = id
}
