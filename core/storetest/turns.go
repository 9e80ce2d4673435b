package storetest

import (
	"fmt"
	"math/rand/v2"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// takeTurn calls TakeUpkeep as one of the programs that share a store. If want is true, the program must get the pass;
// otherwise, it must not get the pass.
func (e *env) takeTurn(s *table.Service, n table.Name, want bool) table.Upkeep {
	e.Helper()
	u, taken, err := s.TakeUpkeep(e.Context(), n)
	if err != nil || taken != want {
		e.Fatalf("a pass was taken: %v, %v, want %v", taken, err, want)
	}
	return u
}

// stepTurn takes the next step of a pass of upkeep, and fails the test after an error.
func (e *env) stepTurn(s *table.Service, u *table.Upkeep) (done bool) {
	e.Helper()
	done, err := s.Upkeep(e.Context(), u)
	if err != nil {
		e.Fatalf("Upkeep: %v", err)
	}
	return done
}

// upkeepTurns checks how programs that share a store divide the upkeep of a table. One at a time makes a pass, another
// resumes a stopped pass, and then there is a pause.
func upkeepTurns(e *env) {
	s, n := e.createExpiring(&table.Expiry{Property: "E"})
	if _, shared := table.As[table.Sharing](e.Store); !shared {
		e.Skip("the store is not Sharing")
	}
	other := table.New(declaring{e.Share(e.clock.now)}, table.Options{Now: e.clock.now, Rand: rand.Uint64})
	instant := edm.Ticks(e.clock.ticks.Load()) + second
	var m []table.Mutation
	for i := range 80 { // 2.4 MB, so that a pass needs three steps
		m = append(m, table.Mutation{Key: at("p", fmt.Sprintf("%02d", i)), Properties: ends(instant, string(make([]byte, 30_000)))})
	}
	e.fill(n.Key(), m)
	e.clock.advance(2 * table.UndoTime)

	first := e.takeTurn(s, n, true)
	if e.stepTurn(s, &first) {
		e.Fatal("one step examined the whole table")
	}
	e.takeTurn(other, n, false) // the first program is making the pass
	e.clock.advance(301 * second)
	next := e.takeTurn(other, n, true)
	if !e.stepTurn(s, &first) {
		e.Error("a program that has lost its turn continues")
	}
	for i := 0; !e.stepTurn(other, &next); i++ {
		if i > 5 {
			e.Fatal("the pass does not end")
		}
	}
	if first.Removed == 0 || next.Removed == 0 || first.Removed+next.Removed != len(m) {
		e.Errorf("the first program removed %d entities and the second one %d of %d", first.Removed, next.Removed, len(m))
	}
	e.takeTurn(s, n, false) // the next pass is not due
	e.clock.advance(2 * table.UndoTime)
	last := e.takeTurn(s, n, true)
	e.stepTurn(s, &last)
	if err := s.DeleteTable(e.Context(), n); err != nil {
		e.Fatal(err)
	}
	if done := e.stepTurn(s, &last); !done {
		e.Error("a pass over a table that was deleted does not end")
	}
}
