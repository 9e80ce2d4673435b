package table_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/testdata/memstore"
)

// brokenCatalog is a store that returns err from each operation on a record, unless err is nil.
type brokenCatalog struct {
	table.Store
	err error
}

func (s *brokenCatalog) ReadRecord(ctx context.Context, key table.RecordKey, c table.Consistency) (table.Record, error) {
	if s.err != nil {
		return table.Record{}, s.err
	}
	return s.Store.ReadRecord(ctx, key, c)
}

func (s *brokenCatalog) WriteRecord(ctx context.Context, d table.Record) (table.Revision, error) {
	if s.err != nil {
		return "", s.err
	}
	return s.Store.WriteRecord(ctx, d)
}

func (s *brokenCatalog) ListRecords(ctx context.Context, account, from string, limit int, c table.Consistency) ([]table.Record, error) {
	if s.err != nil {
		return nil, s.err
	}
	return s.Store.ListRecords(ctx, account, from, limit, c)
}

// TestBrokenCatalog checks that an error of the store has the same code for a record as for an entity,
// and never the code of a missing table.
func TestBrokenCatalog(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want string
	}{
		{table.ErrBusy, "ServerBusy"},
		{table.ErrUnknown, "OperationTimedOut"},
		{context.DeadlineExceeded, "OperationTimedOut"},
		{table.ErrUnsupported, "NotImplemented"},
		{errors.New("bit rot"), "InternalError"},
	} {
		now := func() edm.Ticks { return 1000 }
		store := &brokenCatalog{Store: memstore.New(now)}
		s := newServiceOver(t, store, now, table.Options{})
		store.err = tt.err
		what := func(operation string) string { return fmt.Sprintf("%s with %v", operation, tt.err) }
		expect(t, what("create"), s.CreateTable(t.Context(), table.Name{Account: "acct", Table: "other"}), tt.want)
		expect(t, what("delete"), s.DeleteTable(t.Context(), people), tt.want)
		_, err := s.GetTable(t.Context(), people, table.Strong)
		expect(t, what("get"), err, tt.want)
		_, err = s.QueryTables(t.Context(), "acct", table.TableQuery{Top: 10})
		expect(t, what("list"), err, tt.want)
		_, err = s.AccountSettings(t.Context(), "acct")
		expect(t, what("settings"), err, tt.want)
		update := func([]byte) ([]byte, error) { return nil, nil }
		expect(t, what("change of settings"), s.UpdateAccountSettings(t.Context(), "acct", update), tt.want)
		expect(t, what("change of policies"), s.SetTableACL(t.Context(), people, nil), tt.want)
		expect(t, what("change of options"), s.SetTableOptions(t.Context(), people, "", table.TableOptions{}), tt.want)
		_, err = s.TableACL(t.Context(), people)
		expect(t, what("policies"), err, tt.want)
		_, err = s.Query(t.Context(), people, table.Query{})
		expect(t, what("an empty page"), err, tt.want)
	}
}

// lostCreate is a store that loses the reply to the creation of a table. If it is late, another program has already
// created the table; if it is blind, the table cannot be read afterwards.
type lostCreate struct {
	table.Store
	applied, late, blind bool
}

func (s *lostCreate) WriteRecord(ctx context.Context, r table.Record) (table.Revision, error) {
	if s.late {
		r.Incarnation[0]++
	}
	if s.applied || s.late {
		if _, err := s.Store.WriteRecord(ctx, r); err != nil {
			return "", err
		}
	}
	return "", table.ErrUnknown
}

func (s *lostCreate) ReadRecord(ctx context.Context, key table.RecordKey, c table.Consistency) (table.Record, error) {
	if s.blind {
		return table.Record{}, table.ErrBusy
	}
	return s.Store.ReadRecord(ctx, key, c)
}

// TestCreateTableAfterALostReply checks that a creation whose reply was lost counts as successful if and only if this
// call created the table.
func TestCreateTableAfterALostReply(t *testing.T) {
	t.Parallel()
	now := func() edm.Ticks { return 1000 }
	for _, tt := range []struct {
		store lostCreate
		want  string
	}{
		{lostCreate{applied: true}, ""},
		{lostCreate{}, "OperationTimedOut"},
		{lostCreate{late: true}, "OperationTimedOut"},
		{lostCreate{applied: true, blind: true}, "OperationTimedOut"},
	} {
		tt.store.Store = memstore.New(now)
		s := table.New(&tt.store, table.Options{Now: now, Rand: func() uint64 { return 1<<63 | 1 }})
		expect(t, fmt.Sprintf("%+v", tt), s.CreateTable(t.Context(), people), tt.want)
	}
}

// TestCreateTable checks that all bits of an incarnation are random, that a creation costs one call, and that a table
// of the same name may still be being deleted.
func TestCreateTable(t *testing.T) {
	t.Parallel()
	now := func() edm.Ticks { return 1000 }
	store := &brokenCatalog{Store: memstore.New(now)}
	n := uint64(0)
	s := table.New(store, table.Options{Now: now, Rand: func() uint64 { n += 0x0101010101010101; return n }})
	var c table.Cost
	m := s.Metered(&c)
	expect(t, "create", m.CreateTable(t.Context(), people), "")
	r, err := store.ReadRecord(t.Context(), people.Key(), table.Strong)
	if want := (table.Incarnation{1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2}); err != nil || r.Incarnation != want || c.Calls != 1 {
		t.Errorf("incarnation %v, %v, %d calls", r.Incarnation, err, c.Calls)
	}
	if err := m.SetTableACL(t.Context(), people, []byte("x")); err != nil || c.Calls != 3 {
		t.Errorf("setting policies: %v, %d calls", err, c.Calls-1)
	}
	store.err = table.ErrBeingDeleted
	expect(t, "create while it is being deleted", m.CreateTable(t.Context(), people), "TableBeingDeleted")
	c = table.Cost{}
	bad := table.Name{Account: "acct", Table: "a_b"}
	_, err = m.GetTable(t.Context(), bad, table.Strong)
	expect(t, "get by a name that no table has", err, "ResourceNotFound")
	expect(t, "delete by it", m.DeleteTable(t.Context(), bad), "ResourceNotFound")
	if c.Calls != 0 {
		t.Errorf("names that no table has took %d calls", c.Calls)
	}
}
