package scene

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/testdata/memstore"
)

// faults is a store whose methods return errors on demand, without any effect. It also simulates a replica that lags.
type faults struct {
	table.Store
	errors map[string]error
	clock  *Clock
	behind edm.Ticks
}

// Replication implements [table.Replicated].
func (f *faults) Replication() table.Replication {
	return table.Replication{Status: table.Live, LastSync: f.clock.Now() - f.behind}
}

// Unwrap returns the reference store, so that [table.As] finds its abilities. It returns nil for any other store, whose
// abilities the transcripts do not show.
func (f *faults) Unwrap() table.Store {
	if m, ok := f.Store.(*memstore.Store); ok {
		return m
	}
	return nil
}

// Declares implements [table.Declaring].
func (f *faults) Declares() (name string, expiry bool) {
	if d, ok := table.As[table.Declaring](f.Store); ok {
		return d.Declares()
	}
	return "this store", false
}

// outcomes maps the names of errors in directives to the errors.
var outcomes = map[string]error{
	"busy":           table.ErrBusy,
	"full":           table.ErrFull,
	"unknown":        table.ErrUnknown,
	"being-deleted":  table.ErrBeingDeleted,
	"key-too-long":   table.ErrKeyTooLong,
	"unsupported":    table.ErrUnsupported,
	"past-its-time":  context.DeadlineExceeded,
	"out-of-control": errors.New("read /var/lib/secret: bit rot"),
}

// fail applies a directive such as "Commit busy".
func (f *faults) fail(directive string) error {
	method, outcome, _ := strings.Cut(directive, " ")
	err, ok := outcomes[outcome]
	if !ok || !slices.Contains([]string{"ReadRecord", "WriteRecord", "ListRecords", "Drop", "Get", "Commit", "Scan"}, method) {
		return fmt.Errorf("no method of a store, or nothing that happens to one")
	}
	f.errors[method] = err
	return nil
}

// WriteRecord implements [table.Store].
func (f *faults) WriteRecord(ctx context.Context, d table.Record) (table.Revision, error) {
	if err := f.errors["WriteRecord"]; err != nil {
		return "", err
	}
	return f.Store.WriteRecord(ctx, d)
}

// ReadRecord implements [table.Store].
func (f *faults) ReadRecord(ctx context.Context, key table.RecordKey, c table.Consistency) (table.Record, error) {
	if err := f.errors["ReadRecord"]; err != nil {
		return table.Record{}, err
	}
	return f.Store.ReadRecord(ctx, key, c)
}

// ListRecords implements [table.Store].
func (f *faults) ListRecords(ctx context.Context, account, from string, limit int, c table.Consistency) ([]table.Record, error) {
	if err := f.errors["ListRecords"]; err != nil {
		return nil, err
	}
	return f.Store.ListRecords(ctx, account, from, limit, c)
}

// Drop implements [table.Store].
func (f *faults) Drop(ctx context.Context, key table.RecordKey, revision table.Revision) error {
	if err := f.errors["Drop"]; err != nil {
		return err
	}
	return f.Store.Drop(ctx, key, revision)
}

// Get implements [table.Store].
func (f *faults) Get(ctx context.Context, name table.RecordKey, key []byte, c table.Consistency) (table.Row, error) {
	if err := f.errors["Get"]; err != nil {
		return table.Row{}, err
	}
	return f.Store.Get(ctx, name, key, c)
}

// Commit implements [table.Store].
func (f *faults) Commit(ctx context.Context, name table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	if err := f.errors["Commit"]; err != nil {
		return 0, err
	}
	return f.Store.Commit(ctx, name, m)
}

// Scan implements [table.Store].
func (f *faults) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	if err := f.errors["Scan"]; err != nil {
		return table.Page{}, err
	}
	return f.Store.Scan(ctx, name, r)
}
