package pebblestore

import (
	"context"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/adapters/store/pebblestore/internal/layout"
	"edgetable/core/table"
)

// readyKey is the key that Ready writes, with an empty value, to check that writes become durable.
var readyKey = layout.MetaKey("ready")

// Ready writes to the store and waits until the write is durable. It fails with
// [table.ErrFull] if there is no space.
func (s *Store) Ready() error {
	if s.room.IsFull() {
		return table.ErrMemoryFull
	}
	if s.memory {
		return s.db.Set(readyKey, nil, pebble.NoSync)
	}
	if err := s.disk.Refusal(); err != nil {
		return err
	}
	return s.callPebble(context.Background(), func() error { return s.db.Set(readyKey, nil, pebble.Sync) })
}
