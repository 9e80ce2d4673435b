package pebblestore

import (
	"context"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/core/table"
)

// Checkpoint shows the state of the store at one moment in a new directory, for a
// backup. The data files there are hard links if the file system permits this, so
// damage to one is damage to both: a backup must copy them. Writes continue.
func (s *Store) Checkpoint(ctx context.Context, dir string) error {
	if s.memory {
		return fmt.Errorf("checkpoint of a store in memory: %w", table.ErrUnsupported)
	}
	// A log changes with every commit, data files never do: the next backup need not
	// store them again.
	if err := s.flush(ctx); err != nil {
		return err
	}
	given, giveUp := context.WithCancel(ctx)
	defer giveUp()
	return s.call(ctx, func() error {
		s.checkpoint.Lock()
		defer s.checkpoint.Unlock()
		if given.Err() != nil {
			return nil // the caller gave up
		}
		err := s.db.Checkpoint(dir, pebble.WithFlushedWAL())
		if given.Err() != nil {
			_ = s.machine.RemoveAll(dir)
		}
		return err
	})
}
