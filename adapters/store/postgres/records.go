package postgres

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/adapters/store/postgres/lend"
	"edgetable/adapters/store/postgres/statement"
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
	r = table.Record{Key: k, Incarnation: table.Incarnation(v[1]), Revision: table.RevisionOf(edm.Ticks(statement.Number(v[2]))), Value: slices.Clone(v[3])}
	return r, nil
}

// ReadRecord implements [table.Store].
func (s *Store) ReadRecord(ctx context.Context, key table.RecordKey, c table.Consistency) (table.Record, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return table.Record{}, err
	}
	defer cancel()
	list, err := s.records(ctx, c, key.Account, statement.ReadRecord, []byte(key.String()))
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
	return s.records(ctx, c, account, statement.ListRecords, []byte(prefix+from), []byte(prefix+afterNames), statement.Int8(int64(limit)))
}

func (s *Store) records(ctx context.Context, how table.Consistency, account string, what statement.Prepared, args ...[]byte) (list []table.Record, err error) {
	err = s.eventual(ctx, how, lend.Client{Use: lend.Catalog, Account: account}, func(ctx context.Context, c *pgconn.PgConn) error {
		list = nil
		_, err := statement.Query(ctx, c, what, func(v [][]byte) error {
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
	r.Value = statement.Bytes(slices.Clone(r.Value))
	account, name := strings.Clone(r.Key.Account), strings.Clone(r.Key.String())
	do := changing(name, old, r.Value)
	if r.Revision == "" {
		do = creating(name, r)
	}
	ticks, err := detached(ctx, s, func(ctx context.Context) (edm.Ticks, error) { return s.change(ctx, account, do) })
	if err != nil {
		return "", s.changeError(ctx, err)
	}
	return table.RevisionOf(ticks), nil
}

// Drop implements [table.Store]. It takes effect in one statement: those that began before
// it write into a life that nobody finds any more. The entities are removed by Purge.
func (s *Store) Drop(ctx context.Context, key table.RecordKey, revision table.Revision) error {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	account, do := strings.Clone(key.Account), dropping(strings.Clone(key.String()), revision.Written())
	_, err = detached(ctx, s, func(ctx context.Context) (edm.Ticks, error) { return s.change(ctx, account, do) })
	return s.changeError(ctx, err)
}
