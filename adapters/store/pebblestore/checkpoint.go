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
	if s.standIn.store.Load() != nil || s.space.waiting.Load() > 0 {
		return table.ErrFull
	}
	// A log changes with every commit, data files never do: the next backup need not
	// store them again.
	// The flush waits while the disk is full.
	done := make(chan error, 1)
	go func() {
		flushed, err := s.db.AsyncFlush()
		if err == nil {
			<-flushed
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			return err
		}
	case <-s.space.stalled():
		return table.ErrFull
	case <-ctx.Done():
		return ctx.Err()
	}
	return s.db.Checkpoint(dir, pebble.WithFlushedWAL())
}
