package storetest

import (
	"context"
	"sync"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// Faulty is a Store whose next calls fail on command: before they take effect, or after,
// with the reply lost. Tests use both, because code that is right for one may be wrong for the other.
type Faulty struct {
	table.Store
	// Lagging answers eventual Gets from a replica that has seen nothing yet.
	Lagging bool

	mu     sync.Mutex
	faults map[Method][]Fault
	calls  map[Method]int
	late   []func()
}

// Method names a method of a Store that can fail on command.
type Method string

// The methods of a Store.
const (
	ReadRecord  Method = "ReadRecord"
	WriteRecord Method = "WriteRecord"
	ListRecords Method = "ListRecords"
	Drop        Method = "Drop"
	Get         Method = "Get"
	Commit      Method = "Commit"
	Scan        Method = "Scan"
)

// Effect says whether a call that fails takes effect.
type Effect uint8

const (
	// NotApplied is a call that never reaches the store.
	NotApplied Effect = iota
	// Applied is a call that takes effect, and whose reply is lost.
	Applied
	// Late is a call that takes effect when [Faulty.Deliver] is called.
	Late
)

// Fault says how one call fails.
type Fault struct {
	Effect Effect
	Err    error  // the caller gets it; nil is no fault
	Then   func() // runs before the caller gets the error, or nil
}

// NewFaulty wraps a store.
func NewFaulty(s table.Store) *Faulty {
	return &Faulty{Store: s, faults: make(map[Method][]Fault), calls: make(map[Method]int)}
}

// Fail sets the faults of the next calls of a method, one fault per call.
func (f *Faulty) Fail(m Method, faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults[m] = append(f.faults[m], faults...)
}

// Calls returns the number of calls of a method.
func (f *Faulty) Calls(m Method) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[m]
}

// Deliver applies the late calls in their order.
func (f *Faulty) Deliver() {
	f.mu.Lock()
	late := f.late
	f.late = nil
	f.mu.Unlock()
	for _, call := range late {
		call()
	}
}

// Reset forgets unused faults and late calls.
func (f *Faulty) Reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.faults)
	f.late = nil
}

// do makes one call, with its fault if it has one.
func (f *Faulty) do(m Method, call func() error) error {
	f.mu.Lock()
	f.calls[m]++
	var fault Fault
	if len(f.faults[m]) > 0 {
		fault, f.faults[m] = f.faults[m][0], f.faults[m][1:]
	}
	if fault.Effect == Late {
		f.late = append(f.late, func() { _ = call() })
	}
	f.mu.Unlock()
	if fault.Err == nil {
		return call()
	}
	if fault.Effect == Applied {
		_ = call()
	}
	if fault.Then != nil {
		fault.Then()
	}
	return fault.Err
}

// lose is do for a method with a result.
func lose[R any](f *Faulty, m Method, call func() (R, error)) (R, error) {
	var result R
	err := f.do(m, func() (err error) {
		result, err = call()
		return err
	})
	if err != nil {
		result = *new(R)
	}
	return result, err
}

// ReadRecord implements [table.Store].
func (f *Faulty) ReadRecord(ctx context.Context, key table.RecordKey) (table.Record, error) {
	return lose(f, ReadRecord, func() (table.Record, error) { return f.Store.ReadRecord(ctx, key) })
}

// WriteRecord implements [table.Store].
func (f *Faulty) WriteRecord(ctx context.Context, d table.Record) (table.Revision, error) {
	return lose(f, WriteRecord, func() (table.Revision, error) { return f.Store.WriteRecord(ctx, d) })
}

// ListRecords implements [table.Store].
func (f *Faulty) ListRecords(ctx context.Context, account, from string, limit int) ([]table.Record, error) {
	return lose(f, ListRecords, func() ([]table.Record, error) {
		return f.Store.ListRecords(ctx, account, from, limit)
	})
}

// Drop implements [table.Store].
func (f *Faulty) Drop(ctx context.Context, key table.RecordKey, revision table.Revision) error {
	return f.do(Drop, func() error { return f.Store.Drop(ctx, key, revision) })
}

// Get implements [table.Store].
func (f *Faulty) Get(ctx context.Context, name table.RecordKey, k []byte, c table.Consistency) (table.Row, error) {
	if f.Lagging && c == table.Eventual {
		return table.Row{}, table.ErrNoEntity
	}
	return lose(f, Get, func() (table.Row, error) { return f.Store.Get(ctx, name, k, c) })
}

// Commit implements [table.Store]. A late one keeps its arguments.
func (f *Faulty) Commit(ctx context.Context, name table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	m = cloneMutations(m)
	return lose(f, Commit, func() (edm.Ticks, error) { return f.Store.Commit(ctx, name, m) })
}

func cloneMutations(m []table.Mutation) []table.Mutation {
	list := make([]table.Mutation, len(m))
	for i, one := range m {
		one.Key = append([]byte(nil), one.Key...)
		one.Properties = append(edm.Properties(nil), one.Properties...)
		list[i] = one
	}
	return list
}

// Scan implements [table.Store].
func (f *Faulty) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	r.Ranges = append([]key.Range(nil), r.Ranges...)
	return lose(f, Scan, func() (table.Page, error) { return f.Store.Scan(ctx, name, r) })
}
