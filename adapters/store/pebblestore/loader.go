package pebblestore

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/adapters/store/pebblestore/internal/layout"
)

// Loader copies stored keys and values of another store to a new store. It makes no commits, so its writes are durable
// only after Close.
type Loader struct {
	store     *Store
	batch     *pebble.Batch // pending writes; may be nil
	interrupt <-chan struct{}
}

// NewLoader creates the new store. If Options.Interrupt is closed, the Loader writes nothing more.
func NewLoader(o Options) (*Loader, error) {
	s, err := Open(o)
	if err != nil {
		return nil, err
	}
	return &Loader{store: s, interrupt: o.Interrupt}, nil
}

// Set writes a key and its value. If the key is layout.IdentityKey, the new store takes over the identity in the value.
func (l *Loader) Set(k, v []byte) error {
	if v != nil && bytes.Equal(k, layout.IdentityKey) {
		identity := hex.EncodeToString(v)
		l.store.identity.Store(&identity)
	}
	if l.batch == nil {
		l.batch = l.store.db.NewBatch()
	}
	if err := l.batch.Set(k, v, nil); err != nil {
		return err
	}
	if l.batch.Len() < 1<<20 {
		return nil
	}
	return l.Flush()
}

// Flush applies the pending writes.
func (l *Loader) Flush() error {
	if l.batch == nil {
		return nil
	}
	b := l.batch
	l.batch = nil
	select {
	case <-l.interrupt:
		return context.Canceled
	default:
	}
	return l.store.interruptible(l.interrupt, func() error { return errors.Join(l.store.db.Apply(b, pebble.NoSync), b.Close()) })
}

// CopyRecords writes the second copy of the table records.
func (l *Loader) CopyRecords() error { return l.store.rewriteCopies() }

// Close makes the writes up to the last Flush durable, and closes the new store. It discards later writes.
func (l *Loader) Close() error {
	return errors.Join(l.store.flush(context.Background()), l.store.Close())
}
