package follow

import (
	"context"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// ErrUnbuilt means that a secondary has no store yet, and that clients should retry later.
var ErrUnbuilt error = table.ServerBusy.With("The store of this secondary is being built from a backup. Try again later.")

// noStore is a store whose methods all return [ErrUnbuilt].
type noStore struct{}

// ReadRecord implements table.Store.
func (noStore) ReadRecord(context.Context, table.RecordKey, table.Consistency) (table.Record, error) {
	return table.Record{}, ErrUnbuilt
}

// WriteRecord implements table.Store.
func (noStore) WriteRecord(context.Context, table.Record) (table.Revision, error) {
	return "", ErrUnbuilt
}

// ListRecords implements table.Store.
func (noStore) ListRecords(context.Context, string, string, int, table.Consistency) ([]table.Record, error) {
	return nil, ErrUnbuilt
}

// Drop implements table.Store.
func (noStore) Drop(context.Context, table.RecordKey, table.Revision) error { return ErrUnbuilt }

// Get implements table.Store.
func (noStore) Get(context.Context, table.RecordKey, []byte, table.Consistency) (table.Row, error) {
	return table.Row{}, ErrUnbuilt
}

// Commit implements table.Store.
func (noStore) Commit(context.Context, table.RecordKey, []table.Mutation) (edm.Ticks, error) {
	return 0, ErrUnbuilt
}

// Scan implements table.Store.
func (noStore) Scan(context.Context, table.RecordKey, table.ScanRequest) (table.Page, error) {
	return table.Page{}, ErrUnbuilt
}
