package postgres

import (
	"bytes"
	"context"
	"slices"
)

// settled waits until all transactions that write entities now have ended. Those that
// begin later see every record as it is now.
//
// A statement locks the tables that it names before it looks at them, so one that saw an
// older record has its lock by now. Everybody may read the list of locks.
func (s *Store) settled(ctx context.Context) error {
	before, err := s.column(ctx, writing)
	for try := 0; err == nil && len(before) > 0; try++ {
		if err = pause(ctx, min(try, 6)); err != nil {
			return err
		}
		var now [][]byte
		now, err = s.column(ctx, writing)
		before = slices.DeleteFunc(before, func(t []byte) bool {
			return !slices.ContainsFunc(now, func(n []byte) bool { return bytes.Equal(n, t) })
		})
	}
	return err
}
