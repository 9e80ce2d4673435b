package pebblestore

import (
	"context"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/core/table"
)

// Checkpoint shows the state of the store at one moment in a new directory, for a
// backup. The data files there are hard links if the file system permits this, so
// damage to them is damage to both: they must be copied. Writes continue meanwhile.
func (s *Store) Checkpoint(ctx context.Context, dir string) error {
	if s.memory {
		return fmt.Errorf("checkpoint of a store in memory: %w", table.ErrUnsupported)
	}
	if s.standIn.store.Load() != nil {
		return table.ErrFull
	}
	// A log changes with every commit, data files never do: the next backup need not
	// store them again.
	flushed, err := s.db.AsyncFlush()
	if err != nil {
		return err
	}
	select {
	case <-flushed:
	case <-ctx.Done(): // the disk may be full
		return ctx.Err()
	}
	return s.db.Checkpoint(dir, pebble.WithFlushedWAL())
}
