package scene

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// faults is a store of which some methods fail whenever they are called, without
// effect.
type faults struct {
	table.Store
	errors map[string]error
}

// outcomes are the errors of a store, by their names in a directive.
var outcomes = map[string]error{
	"busy":           table.ErrBusy,
	"unknown":        table.ErrUnknown,
	"being-deleted":  table.ErrBeingDeleted,
	"key-too-long":   table.ErrKeyTooLong,
	"unsupported":    table.ErrUnsupported,
	"past-its-time":  context.DeadlineExceeded,
	"out-of-control": errors.New("read /var/lib/secret: bit rot"),
}

// fail obeys "Commit busy".
func (f *faults) fail(directive string) error {
	method, outcome, _ := strings.Cut(directive, " ")
	err, ok := outcomes[outcome]
	if !ok || !slices.Contains([]string{"ReadDocument", "WriteDocument", "ListDocuments", "Drop", "Get", "Commit", "Scan"}, method) {
		return fmt.Errorf("no method of a store, or nothing that happens to one")
	}
	f.errors[method] = err
	return nil
}

// WriteDocument implements [table.Store].
func (f *faults) WriteDocument(ctx context.Context, d table.Document) (table.Revision, error) {
	if err := f.errors["WriteDocument"]; err != nil {
		return "", err
	}
	return f.Store.WriteDocument(ctx, d)
}

// ReadDocument implements [table.Store].
func (f *faults) ReadDocument(ctx context.Context, key string) (table.Document, error) {
	if err := f.errors["ReadDocument"]; err != nil {
		return table.Document{}, err
	}
	return f.Store.ReadDocument(ctx, key)
}

// ListDocuments implements [table.Store].
func (f *faults) ListDocuments(ctx context.Context, prefix, from string, limit int) ([]table.Document, error) {
	if err := f.errors["ListDocuments"]; err != nil {
		return nil, err
	}
	return f.Store.ListDocuments(ctx, prefix, from, limit)
}

// Drop implements [table.Store].
func (f *faults) Drop(ctx context.Context, key string, revision table.Revision) error {
	if err := f.errors["Drop"]; err != nil {
		return err
	}
	return f.Store.Drop(ctx, key, revision)
}

// Get implements [table.Store].
func (f *faults) Get(ctx context.Context, name string, key []byte, c table.Consistency) (table.Row, error) {
	if err := f.errors["Get"]; err != nil {
		return table.Row{}, err
	}
	return f.Store.Get(ctx, name, key, c)
}

// Commit implements [table.Store].
func (f *faults) Commit(ctx context.Context, name string, m []table.Mutation) (edm.Ticks, error) {
	if err := f.errors["Commit"]; err != nil {
		return 0, err
	}
	return f.Store.Commit(ctx, name, m)
}

// Scan implements [table.Store].
func (f *faults) Scan(ctx context.Context, name string, r table.ScanRequest) (table.Page, error) {
	if err := f.errors["Scan"]; err != nil {
		return table.Page{}, err
	}
	return f.Store.Scan(ctx, name, r)
}
