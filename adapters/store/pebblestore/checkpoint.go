package pebblestore

import (
	"context"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/core/table"
)

// Checkpoint creates a directory that contains the state of the store at one moment, for a backup. Writes
// continue. Its data files are hard links to those of the store if the file system permits hard links. Damage
// to such a file then affects both directories, so a backup must copy the files.
func (s *Store) Checkpoint(ctx context.Context, dir string) error {
	if s.memory {
		return fmt.Errorf("checkpoint of a store in memory: %w", table.ErrUnsupported)
	}
	if err := s.disk.Gone(); err != nil {
		return err
	}
	// The flush moves commits from the log to data files. Data files never change, so the next backup need not
	// store these commits again.
	if err := s.flush(ctx); err != nil {
		return err
	}
	given, giveUp := context.WithCancel(ctx)
	defer giveUp()
	return s.callPebble(ctx, func() error {
		s.checkpoint.Lock()
		defer s.checkpoint.Unlock()
		if given.Err() != nil {
			return nil // the caller has canceled the context and no longer waits
		}
		err := s.db.Checkpoint(dir, pebble.WithFlushedWAL())
		if given.Err() != nil {
			_ = s.machine.RemoveAll(dir)
		}
		return err
	})
}
