package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/adapters/store/postgres/statement"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// ReadUpkeep implements [table.Sharing].
func (s *Store) ReadUpkeep(ctx context.Context, t table.RecordKey) (due edm.Ticks, state []byte, err error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return 0, nil, err
	}
	defer cancel()
	rows, err := s.query(ctx, statement.ReadUpkeep, []byte(t.String()))
	for _, v := range rows {
		due, state = edm.Ticks(statement.Number(v[0])), v[1]
	}
	return due, state, err
}

// SetUpkeep implements [table.Sharing]. If the reply is lost, it repeats the write. If the first write was applied, the
// second fails, and no server removes expired entities of the table until the time in the parameter due.
func (s *Store) SetUpkeep(ctx context.Context, t table.RecordKey, oldDue, due edm.Ticks, state []byte) (set bool, err error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return false, err
	}
	defer cancel()
	if err := s.checkClock(ctx); err != nil { // a time in the future, set by a clock that is ahead, would stop the removal of expired entities on all servers
		return false, err
	}
	if state == nil {
		state = []byte{}
	}
	args := [][]byte{[]byte(t.String()), statement.Int8(int64(due)), state}
	query := statement.BeginUpkeep
	if oldDue != 0 {
		query, args = statement.SetUpkeep, append(args, statement.Int8(int64(oldDue)))
	}
	err = s.retry(ctx, upkeep, func(ctx context.Context, c *pgconn.PgConn) error {
		rows, err := statement.Query(ctx, c, query, nil, args...)
		set = rows > 0
		return err
	})
	return set, err
}

// RestUpkeep implements [table.Sharing].
func (*Store) RestUpkeep(int) edm.Ticks { return edm.Ticks(time.Hour.Nanoseconds() / 100) }
