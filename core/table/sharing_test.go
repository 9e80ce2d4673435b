package table_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// turns is a store that several programs share. It holds the progress of the upkeep of one table.
type turns struct {
	table.Store
	due       edm.Ticks
	state     []byte
	examined  int    // what RestUpkeep was told
	afterRead func() // what another program does after a ReadUpkeep
	readErr   error
	setErr    error
}

const (
	second           = edm.TicksPerSecond
	turn   edm.Ticks = 300 * second  // after this time, another program may resume a pass
	rest   edm.Ticks = 3600 * second // the pause that the store wants between two passes
)

func (s *turns) Unwrap() table.Store { return s.Store }

func (s *turns) ReadUpkeep(context.Context, table.RecordKey) (edm.Ticks, []byte, error) {
	due, state := s.due, slices.Clone(s.state)
	if f := s.afterRead; f != nil {
		s.afterRead = nil
		f()
	}
	return due, state, s.readErr
}

func (s *turns) SetUpkeep(_ context.Context, _ table.RecordKey, oldDue, due edm.Ticks, state []byte) (bool, error) {
	if s.setErr != nil || s.due != oldDue {
		return false, s.setErr
	}
	if due <= oldDue {
		return false, errors.New("the instant is not new, so a program that has lost its turn would not notice")
	}
	s.due, s.state = due, slices.Clone(state)
	return true, nil
}

func (s *turns) RestUpkeep(scanned int) edm.Ticks {
	s.examined = scanned
	return rest
}

// newShared returns a Service over a store that several programs share. A step of upkeep removes one entity.
func newShared(t *testing.T) *expiring {
	t.Helper()
	e := newExpiring(t, table.Options{})
	e.turns = &turns{Store: e.store}
	clock := func() edm.Ticks { return e.now }
	e.Service = table.New(e.turns, table.Options{Now: clock, Rand: func() uint64 { return 1 }, Budget: table.Budget{Bytes: 1}})
	return e
}

// take takes a pass of upkeep if want is true; otherwise, it must not get one.
func (e *expiring) take(want bool) *table.Upkeep {
	e.Helper()
	u, acquired, err := e.TakeUpkeep(e.Context(), people)
	if err != nil || acquired != want || u.Table != people {
		e.Fatalf("a pass was acquired: %t, %v, want %t", acquired, err, want)
	}
	return &u
}

// TestTakeUpkeep checks which of several programs makes a pass, and when. The clock moves only where the test says so.
func TestTakeUpkeep(t *testing.T) {
	t.Parallel()
	e := newExpiring(t, table.Options{})
	e.take(true)
	e.take(true) // only one program uses this store, so it decides itself

	e = newShared(t)
	for _, rk := range []string{"a", "b", "c", "d"} {
		e.put("p", rk, declared)
	}
	e.now += table.RemoveTime
	e.step(&table.Upkeep{Table: people}, false) // a pass that was not taken leaves no trace
	if e.turns.due != 0 || e.turns.state != nil {
		t.Errorf("due %d, state %q", e.turns.due, e.turns.state)
	}
	first := e.take(true)
	e.take(false)
	e.now += turn - 1
	e.take(false)
	e.now++
	second := e.take(true)
	e.take(false)
	e.step(first, true) // it has lost its turn
	e.now += turn / 2
	e.step(second, false) // its turn begins anew
	e.now += turn - 1
	e.take(false)
	e.step(second, true)
	if e.turns.state != nil || e.stored() != 0 {
		t.Errorf("after the pass: state %q, %d stored", e.turns.state, e.stored())
	}
	e.now += rest - 1
	e.take(false)
	e.now++
	e.take(true)
}

// TestTakeUpkeepErrors checks that no pass is acquired, and no pass finishes, with an error or for two programs at once.
func TestTakeUpkeepErrors(t *testing.T) {
	t.Parallel()
	e := newShared(t)
	e.turns.readErr = table.ErrBusy
	if _, acquired, err := e.TakeUpkeep(t.Context(), people); acquired || !errors.Is(err, table.ErrBusy) {
		t.Errorf("error of ReadUpkeep: %t, %v", acquired, err)
	}
	e.turns.readErr, e.turns.setErr = nil, table.ErrBusy
	if _, acquired, err := e.TakeUpkeep(t.Context(), people); acquired || !errors.Is(err, table.ErrBusy) {
		t.Errorf("error of SetUpkeep: %t, %v", acquired, err)
	}
	e.turns.setErr = nil
	e.turns.afterRead = func() { e.take(true) }
	e.take(false)
	e.now += turn
	u := e.take(true)
	e.turns.setErr = table.ErrBusy
	if _, err := e.Upkeep(t.Context(), u); !errors.Is(err, table.ErrBusy) {
		t.Errorf("error of SetUpkeep after a step: %v", err)
	}
}

// TestUpkeepResumes checks that a program that resumes a pass knows all that the first one knew: where the pass is, what
// it has examined, when it began, and whether it has left an entity.
func TestUpkeepResumes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		why    string
		begin  edm.Ticks // the begin of the pass, counted from the withdrawal of the rule
		left   bool      // whether the first step leaves an entity
		ending bool      // whether the rule remains after the pass
	}{
		{"a pass that began after the withdrawal", 1, false, false},
		{"one that began with it", 0, false, true},
		{"one that has left an entity", 1, true, true},
	} {
		e := newShared(t)
		for _, rk := range []string{"a", "b", "c"} {
			e.put("p", rk, declared)
		}
		e.now += table.UndoTime
		e.declare(nil)
		e.now += tt.begin
		if tt.left {
			e.store.afterScan = func() { e.put("p", "a", declared) }
		}
		e.step(e.take(true), false)
		if most := 1<<10 + len(e.turns.state); len(e.turns.state) == 0 || len(e.turns.state) > most {
			t.Errorf("%s: the state has %d bytes", tt.why, len(e.turns.state))
		}
		e.now += turn + 1 // the take and the step have set different instants
		u := e.take(true)
		e.step(u, false)
		if want := key.Append(nil, "p", "b"); !bytes.Equal(e.store.start, want) {
			t.Errorf("%s: resumed at %q, want %q", tt.why, e.store.start, want)
		}
		e.step(u, true)
		if u.Removed != 2 || e.isEnding() != tt.ending {
			t.Errorf("%s: %d removed by the second program, ending %t", tt.why, u.Removed, e.isEnding())
		}
		if e.turns.examined != e.store.examined {
			t.Errorf("%s: the pass examined %d bytes, and the store was told %d", tt.why, e.store.examined, e.turns.examined)
		}
	}
}

// TestUpkeepOfANewTable checks that a pass begins anew if the table was created again, and that Behind counts from the
// time at which a pass was due.
func TestUpkeepOfANewTable(t *testing.T) {
	t.Parallel()
	e := newShared(t)
	e.put("p", "m", declared)
	e.put("p", "z", declared)
	e.now += table.RemoveTime
	e.step(e.take(true), false)
	if err := errors.Join(e.DeleteTable(t.Context(), people), e.CreateTable(t.Context(), people)); err != nil {
		t.Fatal(err)
	}
	e.declare(&table.Expiry{Property: "E"})
	e.put("p", "a", declared)
	e.now += table.RemoveTime + 7*second
	u := e.take(true)
	e.step(u, true)
	if e.stored() != 0 || u.Removed != 1 || u.Behind != 7*second {
		t.Errorf("%d stored, %d removed, %d s behind", e.stored(), u.Removed, u.Behind/second)
	}
	e.put("p", "b", declared)
	e.now += rest + 9*second
	u = e.take(true)
	if e.step(u, true); u.Removed != 1 || u.Behind != 9*second {
		t.Errorf("%d removed, %d s behind", u.Removed, u.Behind/second)
	}
}
