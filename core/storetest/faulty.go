package storetest

import (
	"context"
	"sync"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// Faulty is a Store whose next calls fail as they are told to: without effect, or
// with their effect and without their reply. Faults come in pairs, for whoever
// handles the one only has guessed.
type Faulty struct {
	table.Store
	// Lagging answers eventual Gets from a replica that has seen nothing yet.
	Lagging bool

	mu     sync.Mutex
	faults map[Method][]Fault
	calls  map[Method]int
	late   []func()
}

// Method is one of a Store's that can be made to fail.
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

// Effect is what becomes of a call that fails.
type Effect uint8

const (
	// NotApplied: it never reached the store.
	NotApplied Effect = iota
	// Applied: it was carried out, only its reply is lost.
	Applied
	// Late: it is under way, and is carried out by [Faulty.Deliver].
	Late
)

// Fault is the fate of one call.
type Fault struct {
	Effect Effect
	Err    error  // what the caller gets; nil is no fault
	Then   func() // what others do before the caller gets it, or nil
}

// NewFaulty wraps a store.
func NewFaulty(s table.Store) *Faulty {
	return &Faulty{Store: s, faults: make(map[Method][]Fault), calls: make(map[Method]int)}
}

// Fail sets the fate of the next calls of a method, one each.
func (f *Faulty) Fail(m Method, faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults[m] = append(f.faults[m], faults...)
}

// Calls is how many calls of a method there were.
func (f *Faulty) Calls(m Method) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[m]
}

// Deliver carries out what was late, in the order of the calls.
func (f *Faulty) Deliver() {
	f.mu.Lock()
	late := f.late
	f.late = nil
	f.mu.Unlock()
	for _, call := range late {
		call()
	}
}

// Reset forgets the faults that were not used and what was late.
func (f *Faulty) Reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.faults)
	f.late = nil
}

// do makes one call, as its fate wants it.
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

// lose is do for a method with a result, which is lost with the reply.
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

// Commit implements [table.Store]. A late one keeps what it was given.
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
