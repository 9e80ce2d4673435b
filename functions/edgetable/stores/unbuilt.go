package stores

import (
	"context"
	"time"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// ErrUnbuilt means that a secondary has no store yet, and that clients should retry later.
var ErrUnbuilt error = table.ServerBusy.With("The store of this secondary is being built from a backup. Try again later.")

// Unbuilt returns the backend of a secondary that is building its first store.
func Unbuilt(s table.Store, dir string) *Backend {
	return &Backend{
		Store: s, System: "edgetable", Place: "in " + dir + ", where they are being built",
		Close: func() error { return nil }, Ready: func(context.Context) error { return nil }, Fresh: time.Second,
	}
}

// NoStore is a store whose methods all return [ErrUnbuilt].
type NoStore struct{}

// ReadRecord implements table.Store.
func (NoStore) ReadRecord(context.Context, table.RecordKey, table.Consistency) (table.Record, error) {
	return table.Record{}, ErrUnbuilt
}

// WriteRecord implements table.Store.
func (NoStore) WriteRecord(context.Context, table.Record) (table.Revision, error) {
	return "", ErrUnbuilt
}

// ListRecords implements table.Store.
func (NoStore) ListRecords(context.Context, string, string, int, table.Consistency) ([]table.Record, error) {
	return nil, ErrUnbuilt
}

// Drop implements table.Store.
func (NoStore) Drop(context.Context, table.RecordKey, table.Revision) error { return ErrUnbuilt }

// Get implements table.Store.
func (NoStore) Get(context.Context, table.RecordKey, []byte, table.Consistency) (table.Row, error) {
	return table.Row{}, ErrUnbuilt
}

// Commit implements table.Store.
func (NoStore) Commit(context.Context, table.RecordKey, []table.Mutation) (edm.Ticks, error) {
	return 0, ErrUnbuilt
}

// Scan implements table.Store.
func (NoStore) Scan(context.Context, table.RecordKey, table.ScanRequest) (table.Page, error) {
	return table.Page{}, ErrUnbuilt
}
