package storetest

import (
	"context"
	"sync"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// faultyStore is a Store whose next calls fail when a test demands it. A call either fails before it takes effect, or
// takes effect and loses its reply.
type faultyStore struct {
	table.Store
	// lagging makes eventual Gets read from a replica that has no data yet.
	lagging bool

	mu      sync.Mutex
	faults  map[method][]failure
	calls   map[method]int
	delayed []func()
}

// method is the name of a method of Store.
type method string

const (
	onReadRecord  method = "ReadRecord"
	onWriteRecord method = "WriteRecord"
	onListRecords method = "ListRecords"
	onDrop        method = "Drop"
	onGet         method = "Get"
	onCommit      method = "Commit"
	onScan        method = "Scan"
)

// effect says when a call with a fault reaches the store.
type effect uint8

const (
	// notApplied means that the call fails and never reaches the store.
	notApplied effect = iota
	// replyLost means that the call reaches the store immediately, but its reply is lost.
	replyLost
	// applyLate means that the call fails immediately, and reaches the store only when [faultyStore.deliver] is called.
	applyLate
)

// failure describes the fault of one call.
type failure struct {
	effect effect
	err    error  // error that the caller gets, or nil for no fault
	then   func() // function that is called before the caller gets the error, or nil
}

func newFaulty(s table.Store) *faultyStore {
	return &faultyStore{Store: s, faults: make(map[method][]failure), calls: make(map[method]int)}
}

// fail sets the faults of the next calls of a method, one for each call.
func (f *faultyStore) fail(m method, faults ...failure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults[m] = append(f.faults[m], faults...)
}

// count returns the number of calls of a method.
func (f *faultyStore) count(m method) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[m]
}

// deliver applies the late calls in the order in which they were made.
func (f *faultyStore) deliver() {
	f.mu.Lock()
	late := f.delayed
	f.delayed = nil
	f.mu.Unlock()
	for _, call := range late {
		call()
	}
}

// reset removes all pending faults. It also drops the late calls, which then never take effect.
func (f *faultyStore) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.faults)
	f.delayed = nil
}

// do executes a call of a method, with the next fault of the method if there is one.
func (f *faultyStore) do(m method, call func() error) error {
	f.mu.Lock()
	f.calls[m]++
	var fault failure
	if len(f.faults[m]) > 0 {
		fault, f.faults[m] = f.faults[m][0], f.faults[m][1:]
	}
	if fault.effect == applyLate {
		f.delayed = append(f.delayed, func() { _ = call() })
	}
	f.mu.Unlock()
	if fault.err == nil {
		return call()
	}
	if fault.effect == replyLost {
		_ = call()
	}
	if fault.then != nil {
		fault.then()
	}
	return fault.err
}

// lose is like faultyStore.do for a method that also returns a result.
func lose[R any](f *faultyStore, m method, call func() (R, error)) (R, error) {
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
func (f *faultyStore) ReadRecord(ctx context.Context, key table.RecordKey, c table.Consistency) (table.Record, error) {
	return lose(f, onReadRecord, func() (table.Record, error) { return f.Store.ReadRecord(ctx, key, c) })
}

// WriteRecord implements [table.Store].
func (f *faultyStore) WriteRecord(ctx context.Context, d table.Record) (table.Revision, error) {
	return lose(f, onWriteRecord, func() (table.Revision, error) { return f.Store.WriteRecord(ctx, d) })
}

// ListRecords implements [table.Store].
func (f *faultyStore) ListRecords(ctx context.Context, account, from string, limit int, c table.Consistency) ([]table.Record, error) {
	return lose(f, onListRecords, func() ([]table.Record, error) {
		return f.Store.ListRecords(ctx, account, from, limit, c)
	})
}

// Drop implements [table.Store].
func (f *faultyStore) Drop(ctx context.Context, key table.RecordKey, revision table.Revision) error {
	return f.do(onDrop, func() error { return f.Store.Drop(ctx, key, revision) })
}

// Get implements [table.Store].
func (f *faultyStore) Get(ctx context.Context, name table.RecordKey, k []byte, c table.Consistency) (table.Row, error) {
	if f.lagging && c == table.Eventual {
		return table.Row{}, table.ErrNoEntity
	}
	return lose(f, onGet, func() (table.Row, error) { return f.Store.Get(ctx, name, k, c) })
}

// Commit implements [table.Store]. It copies its arguments, because a late call uses them after
// Commit has returned.
func (f *faultyStore) Commit(ctx context.Context, name table.RecordKey, m []table.Mutation) (edm.Ticks, error) {
	m = cloneMutations(m)
	return lose(f, onCommit, func() (edm.Ticks, error) { return f.Store.Commit(ctx, name, m) })
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
func (f *faultyStore) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	r.Ranges = append([]key.Range(nil), r.Ranges...)
	return lose(f, onScan, func() (table.Page, error) { return f.Store.Scan(ctx, name, r) })
}
