package pebblestore

import (
	"context"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/core/table"
)

// Checkpoint writes a snapshot of the store to a new directory. Its data files may be hard links to the files of the
// store. A backup must copy them.
func (s *Store) Checkpoint(ctx context.Context, dir string) error {
	if s.memory {
		return fmt.Errorf("checkpoint of a store in memory: %w", table.ErrUnsupported)
	}
	if err := s.disk.CheckDirectory(); err != nil {
		return err
	}
	// The flush moves commits from the log to data files. A data file never changes, so the next backup need not store
	// these commits again.
	if err := s.flush(ctx); err != nil {
		return err
	}
	given, giveUp := context.WithCancel(ctx)
	defer giveUp()
	return s.callPebble(ctx, func() error {
		s.checkpoint.Lock()
		defer s.checkpoint.Unlock()
		if given.Err() != nil {
			return nil // the caller has stopped waiting
		}
		err := s.db.Checkpoint(dir, pebble.WithFlushedWAL())
		if given.Err() != nil {
			_ = s.machine.RemoveAll(dir)
		}
		return err
	})
}
