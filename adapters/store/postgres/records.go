package postgres

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/adapters/store/postgres/lend"
	"edgetable/adapters/store/postgres/ruled"
	"edgetable/adapters/store/postgres/statement"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// afterNames sorts after every table name.
const afterNames = "\x7f"

// readRecordRow reads a record. A row with five columns contains the options of the table. For a shorter row, the
// result hidden is true if the table has options.
func readRecordRow(v [][]byte) (r table.Record, hidden bool, err error) {
	k, ok := table.ParseRecordKey(string(v[0]))
	if !ok || len(v[1]) != len(r.Incarnation) {
		return r, false, errRecord
	}
	r = table.Record{Key: k, Incarnation: table.Incarnation(v[1]), Revision: table.RevisionOf(edm.Ticks(statement.Number(v[2]))), Value: slices.Clone(v[3])}
	if len(v) == 5 {
		r.Traits, err = ruled.Parse(string(v[0]), v[4])
	}
	return r, statement.Number(v[2]) < 0, err
}

// ReadRecord implements [table.Store].
func (s *Store) ReadRecord(ctx context.Context, key table.RecordKey, c table.Consistency) (table.Record, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return table.Record{}, err
	}
	defer cancel()
	name := key.String()
	first := statement.ReadRecord
	if s.ruled.Find(name) != nil {
		first = statement.RuledReadRecord
	}
	list, err := s.records(ctx, c, key.Account, first, statement.RuledReadRecord, []byte(name))
	if err != nil {
		return table.Record{}, err
	}
	if len(list) == 0 {
		return table.Record{}, table.ErrNoRecord
	}
	return list[0], nil
}

// ListRecords implements [table.Store]. All records of a result are from the same snapshot of the database.
func (s *Store) ListRecords(ctx context.Context, account, from string, limit int, c table.Consistency) ([]table.Record, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	prefix := table.TablesOf(account)
	if strings.ContainsRune(from, 0) { // the SQL type text cannot contain the character 0
		from = from[:strings.IndexByte(from, 0)] + "\x01"
	}
	return s.records(ctx, c, account, statement.ListRecords, statement.RuledListRecords, []byte(prefix+from), []byte(prefix+afterNames), statement.Int8(int64(limit)))
}

// records reads records with the first statement. If some of the records have options, it reads all of them again with
// the second statement, which also returns the options.
func (s *Store) records(ctx context.Context, consistency table.Consistency, account string, first, second statement.Prepared, args ...[]byte) (list []table.Record, err error) {
	err = s.eventual(ctx, consistency, lend.Client{Use: lend.Catalog, Account: account}, func(ctx context.Context, c *pgconn.PgConn) (err error) {
		var hidden bool
		if list, hidden, err = readRecords(ctx, c, first, args); hidden && err == nil {
			list, _, err = readRecords(ctx, c, second, args)
		}
		return err
	})
	return list, err
}

func readRecords(ctx context.Context, c *pgconn.PgConn, query statement.Prepared, args [][]byte) (list []table.Record, hidden bool, err error) {
	_, err = statement.Query(ctx, c, query, func(v [][]byte) error {
		r, hides, err := readRecordRow(v)
		list, hidden = append(list, r), hidden || hides
		return err
	}, args...)
	return list, hidden, err
}

// Declares implements [table.Declaring].
func (*Store) Declares() (name string, expiry bool) { return "PostgreSQL", true }

// WriteRecord implements [table.Store].
func (s *Store) WriteRecord(ctx context.Context, r table.Record) (table.Revision, error) {
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
	if err := s.feeds.Prepare(ctx, &r); err != nil {
		return "", err
	}
	declared := ruled.Stored(r.Traits)
	ticks, err := s.runDetached(ctx, func(ctx context.Context) (edm.Ticks, error) {
		switch {
		case r.Revision == "":
			return s.change(ctx, account, creating(name, r, declared))
		case declared == nil:
			return s.changeEither(ctx, account, name, changing(name, old, r.Value), declaring(name, old, &r, nil), nil)
		}
		return s.changeEither(ctx, account, name, nil, declaring(name, old, &r, declared), declared)
	})
	if err != nil {
		return "", s.changeError(ctx, err)
	}
	return table.RevisionOf(ticks), nil
}

// changeEither changes a record that has options before or after the change. It returns only when all writes under the
// earlier options have ended.
//
// The argument plain is the change for a record without options, or nil. The argument ruled is the change for any
// record.
func (s *Store) changeEither(ctx context.Context, account, name string, plain, ruled change, declared []byte) (ticks edm.Ticks, err error) {
	if err = table.ErrRevision; plain != nil && s.ruled.Find(name) == nil {
		ticks, err = s.change(ctx, account, plain)
	}
	if !errors.Is(err, table.ErrRevision) {
		return ticks, err
	}
	if ticks, err = s.change(ctx, account, ruled); err != nil {
		return 0, err
	}
	if _, err = s.ruled.Note(name, ticks, declared); err == nil {
		err = s.awaitWriters(ctx, servers)
	}
	if err != nil {
		return 0, errors.Join(table.ErrUnknown, err)
	}
	return ticks, nil
}

// Drop implements [table.Store]. Writes that began before the drop may still write to the old incarnation, which later
// operations do not find.
func (s *Store) Drop(ctx context.Context, key table.RecordKey, revision table.Revision) error {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	account, name, old := strings.Clone(key.Account), strings.Clone(key.String()), revision.Written()
	_, err = s.runDetached(ctx, func(ctx context.Context) (ticks edm.Ticks, err error) {
		if err = table.ErrRevision; s.ruled.Find(name) == nil {
			ticks, err = s.change(ctx, account, dropping(name, old, statement.DropRecord, statement.InTrail))
		}
		if errors.Is(err, table.ErrRevision) {
			if ticks, err = s.change(ctx, account, dropping(name, old, statement.RuledDrop, statement.RuledInTrail)); err == nil {
				s.ruled.Forget(name)
			}
		}
		return ticks, err
	})
	return s.changeError(ctx, err)
}
