package storetest_test

import (
	"context"
	"slices"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// ended returns the row with this key if the row has expired and is still stored. Otherwise it returns no row.
func ended(ctx context.Context, s table.Store, name table.RecordKey, k []byte) []table.Row {
	page, _ := s.Scan(ctx, name, table.ScanRequest{Ranges: []key.Range{{Start: k, End: append(slices.Clone(k), 0)}}, Ended: true})
	return page.Rows
}

// showsEnded is a broken store: its Get returns expired entities, as if the table had no rule of expiry.
type showsEnded struct{ table.Store }

func (s showsEnded) Get(ctx context.Context, name table.RecordKey, k []byte, c table.Consistency) (table.Row, error) {
	for _, row := range ended(ctx, s.Store, name, k) {
		return row, nil
	}
	return s.Store.Get(ctx, name, k, c)
}

// losesTraits is a broken store: it stores a record without its traits (such as the rule of expiry) if the record's
// value has properties.
type losesTraits struct{ table.Store }

func (s losesTraits) WriteRecord(ctx context.Context, r table.Record) (table.Revision, error) {
	if edm.Properties(r.Value).Count() > 0 {
		r.Traits = nil
	}
	return s.Store.WriteRecord(ctx, r)
}

// expiresAny is a broken store. An Expire (a mutation that removes an expired entity) demands a Timestamp.
// This store removes the entity even if the entity has another Timestamp.
type expiresAny struct{ table.Store }

func (s expiresAny) Commit(ctx context.Context, name table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	m = slices.Clone(m)
	for i := range m {
		if m[i].Kind != table.Expire {
			continue
		}
		if row, err := s.Get(ctx, name, m[i].Key, table.Strong); err == nil {
			m[i].Kind, m[i].IfMatch = table.Delete, row.Timestamp
		}
	}
	return s.Store.Commit(ctx, name, m)
}
