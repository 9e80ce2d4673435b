package storetest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// env is a test with its own data.
type env struct {
	*testing.T
	Fixture
	clock *clock
	has   Strengths
}

func open(t *testing.T, h Harness) *env {
	t.Helper()
	c := newClock()
	p := h(t, c.now)
	return &env{T: t, Fixture: p, clock: c, has: p.Strengths}
}

// clock is a clock for tests. Each reading of the clock moves it by step, which may be positive, zero or negative.
type clock struct{ ticks, step atomic.Int64 }

// millisecond is the default step of a clock.
const millisecond = edm.TicksPerSecond / 1000

func newClock() *clock {
	c := new(clock)
	c.ticks.Store(int64(edm.TicksOf(time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC))))
	c.step.Store(millisecond)
	return c
}

func (c *clock) now() edm.Ticks { return edm.Ticks(c.ticks.Add(c.step.Load())) }

// awaitReplicas waits until all replicas have all writes. Without replicas, it does not wait.
func (e *env) awaitReplicas() {
	if e.Settle != nil {
		e.Settle()
	}
}

// second returns a second store over the same data, or e.Store if the fixture cannot be shared.
func (e *env) second(now func() edm.Ticks) table.Store {
	if e.Share == nil {
		return e.Store
	}
	return e.Share(now)
}

// repetitions returns the number of repetitions of a test: n or, for a Remote fixture, the second argument. This should
// be just high enough for the test to cover its cases.
func (e *env) repetitions(n, remote int) int {
	if e.Remote {
		return remote
	}
	return n
}

func incarnation() (i table.Incarnation) {
	binary.BigEndian.PutUint64(i[:], rand.Uint64())
	binary.BigEndian.PutUint32(i[8:], rand.Uint32())
	return i
}

// tableKey returns the key of a table in the account that most laws use.
func tableKey(name string) table.RecordKey { return table.RecordKey{Account: "acct", Table: name} }

// create creates an empty table and returns its key.
func (e *env) create(name string) table.RecordKey {
	e.Helper()
	k := tableKey(name)
	e.write(table.Record{Key: k, Incarnation: incarnation()})
	return k
}

func (e *env) write(r table.Record) table.Revision {
	e.Helper()
	revision, err := e.Store.WriteRecord(e.Context(), r)
	// After a write with an unknown outcome, the record may appear at any time. Write and read until it exists.
	for lost := e.Lossy && unknown(err); lost && (unknown(err) || errors.Is(err, table.ErrRevision)); {
		var there table.Record
		there, err = e.Store.ReadRecord(e.Context(), r.Key, table.Strong)
		if err == nil && there.Incarnation == r.Incarnation && bytes.Equal(there.Value, r.Value) {
			revision = there.Revision
			break
		}
		revision, err = e.Store.WriteRecord(e.Context(), r)
	}
	if err != nil {
		e.Fatalf("WriteRecord(%s): %v", r.Key, err)
	}
	e.awaitReplicas()
	return revision
}

func (e *env) drop(name table.RecordKey) {
	e.Helper()
	r, err := e.Store.ReadRecord(e.Context(), name, table.Strong)
	if err != nil {
		e.Fatalf("ReadRecord(%s): %v", name, err)
	}
	if err := e.Store.Drop(e.Context(), name, r.Revision); err != nil {
		e.Fatalf("Drop(%s): %v", name, err)
	}
	e.awaitReplicas()
}

// commit applies mutations, and waits until all replicas have them.
func (e *env) commit(name table.RecordKey, m ...table.Mutation) (edm.Ticks, error) {
	defer e.awaitReplicas()
	return e.Store.Commit(e.Context(), name, m)
}

func (e *env) mustCommit(name table.RecordKey, m ...table.Mutation) edm.Ticks {
	e.Helper()
	ticks, err := e.commit(name, m...)
	if err != nil {
		e.Fatalf("Commit(%s, %s): %s", name, describe(m), reason(err))
	}
	return ticks
}

// fill puts entities, in commits that are as large as the store permits.
func (e *env) fill(name table.RecordKey, m []table.Mutation) {
	e.Helper()
	size := 1
	if e.has.AtomicCommit {
		size = table.MaxBatchOperations
	}
	for len(m) > 0 {
		n := 1
		for n < min(len(m), size) && string(key.Partition(m[n].Key)) == string(key.Partition(m[0].Key)) {
			n++
		}
		e.mustCommit(name, m[:n]...)
		m = m[n:]
	}
}

func (e *env) get(name table.RecordKey, k []byte) (table.Row, error) {
	return e.Store.Get(e.Context(), name, k, table.Strong)
}

// expect reads an entity with a strong Get, and fails the test if the result, as text, is not want.
func (e *env) expect(what string, name table.RecordKey, k []byte, want string) {
	e.Helper()
	if got := shown(e.get(name, k)); got != want {
		e.Errorf("%s: Get(%s)\n got %s\nwant %s", what, showKey(k), got, want)
	}
}

// lacksStrength reports whether err is ErrUnsupported because the mutations need a strength that the store does not
// declare.
func (e *env) lacksStrength(err error, m []table.Mutation) bool {
	if !errors.Is(err, table.ErrUnsupported) {
		return false
	}
	conditional := slices.ContainsFunc(m, func(one table.Mutation) bool { return one.Condition != table.Always })
	return len(m) > 1 && !e.has.AtomicCommit || conditional && !e.has.Conditional
}

// wasApplied reports whether a Commit was applied. It fails the test unless err is nil, a [table.Refused], or an error
// for which [env.lacksStrength] returns true.
func (e *env) wasApplied(m []table.Mutation, err error) bool {
	e.Helper()
	var refusal *table.Refused
	if err != nil && !errors.As(err, &refusal) && !e.lacksStrength(err, m) {
		e.Fatalf("Commit(%s): %s", describe(m), reason(err))
	}
	return err == nil
}
