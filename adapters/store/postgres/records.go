package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// afterNames follows every name of a table.
const afterNames = "\x7f"

func readRecordRow(v [][]byte) (r table.Record, err error) {
	k, ok := table.ParseRecordKey(string(v[0]))
	if !ok || len(v[1]) != len(r.Incarnation) {
		return r, errRecord
	}
	r = table.Record{Key: k, Incarnation: table.Incarnation(v[1]), Revision: table.RevisionOf(edm.Ticks(number(v[2]))), Value: slices.Clone(v[3])}
	return r, nil
}

// ReadRecord implements [table.Store].
func (s *Store) ReadRecord(ctx context.Context, key table.RecordKey, c table.Consistency) (table.Record, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return table.Record{}, err
	}
	defer cancel()
	list, err := s.records(ctx, c, key.Account, readRecord, []byte(key.String()))
	if err != nil {
		return table.Record{}, err
	}
	if len(list) == 0 {
		return table.Record{}, table.ErrNoRecord
	}
	return list[0], nil
}

// ListRecords implements [table.Store]; its answer is a snapshot.
func (s *Store) ListRecords(ctx context.Context, account, from string, limit int, c table.Consistency) ([]table.Record, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	prefix := table.TablesOf(account)
	if strings.ContainsRune(from, 0) { // text has no such character
		from = from[:strings.IndexByte(from, 0)] + "\x01"
	}
	return s.records(ctx, c, account, listRecords, []byte(prefix+from), []byte(prefix+afterNames), int8Of(int64(limit)))
}

func (s *Store) records(ctx context.Context, how table.Consistency, account string, what statement, args ...[]byte) (list []table.Record, err error) {
	err = s.eventual(ctx, how, client{useCatalog, account}, func(ctx context.Context, c *pgconn.PgConn) error {
		list = nil
		_, err := query(ctx, c, what, func(v [][]byte) error {
			r, err := readRecordRow(v)
			list = append(list, r)
			return err
		}, args...)
		return err
	})
	return list, err
}

// Declares implements [table.Declaring].
func (*Store) Declares() (name string, expiry bool) { return "PostgreSQL", false }

// WriteRecord implements [table.Store].
func (s *Store) WriteRecord(ctx context.Context, r table.Record) (table.Revision, error) {
	if r.Traits != nil {
		return "", table.ErrUnsupported
	}
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return "", err
	}
	defer cancel()
	old := r.Revision.Written()
	if r.Revision != "" && old == 0 {
		return "", table.ErrRevision
	}
	r.Value = bytesOf(slices.Clone(r.Value))
	account, name := strings.Clone(r.Key.Account), strings.Clone(r.Key.String())
	revision, err := detached(ctx, s, func(ctx context.Context) (table.Revision, error) {
		ticks, err := s.change(ctx, account, func(ticks edm.Ticks) []call {
			n, t := []byte(name), int8Of(int64(ticks))
			if r.Revision == "" {
				return []call{{createRecord, [][]byte{n, r.Incarnation[:], t, r.Value, int8Of(random())}}, {setFloor, [][]byte{n, t}}}
			}
			return []call{{changeRecord, [][]byte{n, t, r.Value, int8Of(int64(old))}}}
		}, func(ctx context.Context, ticks edm.Ticks) (bool, error) {
			now, err := s.records(ctx, table.Strong, account, readRecord, []byte(name))
			return len(now) == 1 && now[0].Revision == table.RevisionOf(ticks), err
		})
		return table.RevisionOf(ticks), err
	})
	if err != nil {
		return "", s.changeError(ctx, err)
	}
	return revision, nil
}

// Drop implements [table.Store]. It takes effect in one statement: those that began before
// it write into a life that nobody finds any more. The entities are removed by Purge.
func (s *Store) Drop(ctx context.Context, key table.RecordKey, revision table.Revision) error {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	account, name, old := strings.Clone(key.Account), strings.Clone(key.String()), revision.Written()
	_, err = detached(ctx, s, func(ctx context.Context) (edm.Ticks, error) {
		return s.change(ctx, account, func(ticks edm.Ticks) []call {
			return []call{{dropRecord, [][]byte{[]byte(name), int8Of(int64(old)), int8Of(int64(ticks))}}}
		}, func(ctx context.Context, ticks edm.Ticks) (found bool, err error) {
			err = s.read(ctx, client{useCatalog, account}, func(ctx context.Context, c *pgconn.PgConn) error {
				rows, err := query(ctx, c, droppedBy, nil, int8Of(int64(ticks)))
				found = rows > 0
				return err
			})
			return found, err
		})
	})
	return s.changeError(ctx, err)
}

// change changes a record in one transaction, whose first statement writes one row, or none
// if the record has another revision. done reports whether a transaction with this
// Timestamp was applied.
func (s *Store) change(ctx context.Context, account string, calls func(ticks edm.Ticks) []call, done func(ctx context.Context, ticks edm.Ticks) (bool, error)) (edm.Ticks, error) {
	for try := 0; ; try++ {
		ticks, err := s.clock.Next(ctx)
		var rows []int64
		if err == nil {
			err = s.once(ctx, client{useWrites, account}, func(_ context.Context, c *pgconn.PgConn) error {
				rows, err = s.attended(c, calls(ticks))
				return err
			})
		}
		if err == nil {
			if rows[0] == 0 {
				return 0, table.ErrRevision
			}
			return ticks, nil
		}
		switch class := classify(err); class {
		case lost:
			if found, e := done(ctx, ticks); e != nil || !found || s.barrier(ctx) != nil {
				s.counters.unknown.Add(1)
				return 0, fmt.Errorf("%w: %w", table.ErrUnknown, err)
			}
			return ticks, nil
		case again, moved:
			s.counters.retry(class)
			if halts(err) || pause(ctx, try) != nil {
				return 0, err
			}
		default:
			return 0, err
		}
	}
}

// changeError is the error of a change of a record for the caller.
func (s *Store) changeError(ctx context.Context, err error) error {
	if errors.Is(err, table.ErrRevision) {
		return err
	}
	return s.commitError(ctx, err)
}
