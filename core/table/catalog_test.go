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
		_, err = s.Query(t.Context(), people, table.Query{})
		expect(t, what("an empty page"), err, tt.want)
	}
}
