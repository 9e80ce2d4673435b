package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgconn"
)

// settled waits until all transactions that write entities now have ended. Those that
// begin later see every record as it is now.
//
// A statement locks the tables that it names before it looks at them, so one that saw an
// older record has its lock by now. Everybody may read the list of locks.
func (s *Store) settled(ctx context.Context) error {
	before, err := s.writing(ctx)
	for try := 0; err == nil && len(before) > 0; try++ {
		if err = pause(ctx, min(try, 6)); err != nil {
			return err
		}
		var now map[string]bool
		if now, err = s.writing(ctx); err != nil {
			return err
		}
		for t := range before {
			if !now[t] {
				delete(before, t)
			}
		}
	}
	return err
}

// writing lists the transactions that write entities.
func (s *Store) writing(ctx context.Context) (map[string]bool, error) {
	var list map[string]bool
	err := s.retry(ctx, s.shared, func(ctx context.Context, c *pgconn.PgConn) error {
		list = make(map[string]bool)
		_, err := query(ctx, c, writing, func(v [][]byte) error {
			list[string(v[0])] = true
			return nil
		})
		return err
	})
	return list, err
}
