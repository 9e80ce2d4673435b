package storetest

import (
	"context"
	"math/rand/v2"
	"slices"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

const second = edm.TicksPerSecond

// ends returns properties that make an entity expire at the given instant. The instant is in the property "E",
// which the tests name in their rules of expiry. Another property contains the given text.
func ends(at edm.Ticks, v string) edm.Properties {
	return edm.AppendProperty(text(v), "E", edm.DateTime(at))
}

// matured is an age at which a rule certainly removes expired entities. A young rule only hides them.
const matured = table.UndoTime + 90*second

// advance advances the clock. Otherwise the clock of these tests stands still.
func (c *clock) advance(by edm.Ticks) { c.ticks.Add(int64(by)) }

// createExpiring creates a table with a rule of expiry, and makes the clock stand still.
func (e *env) createExpiring(rule *table.Expiry) (s *table.Service, name table.Name) {
	e.Helper()
	if !e.has.Expiry {
		e.Skip("the store does not declare Expiry")
	}
	e.clock.step.Store(0)
	s = table.New(declaring{e.Store}, table.Options{Now: e.clock.now, Rand: rand.Uint64})
	name = table.Name{Account: "acct", Table: "ending"}
	e.create(name.Table)
	e.declare(s, name, rule)
	return s, name
}

// declaring is a wrapper of a store. It declares that the store supports rules of expiry.
type declaring struct{ table.Store }

func (s declaring) Unwrap() table.Store             { return s.Store }
func (s declaring) Declares() (name string, _ bool) { return "the store", true }

// pauses is a store. Its method Scan reads rows, calls the function found with these rows, and then
// returns.
type pauses struct {
	table.Store
	found func(rows []table.Row)
}

func (s pauses) Unwrap() table.Store { return s.Store }

func (s pauses) Scan(ctx context.Context, name table.RecordKey, r table.ScanRequest) (table.Page, error) {
	page, err := s.Store.Scan(ctx, name, r)
	s.found(page.Rows)
	return page, err
}

// declare sets the rule of expiry of a table. If rule is nil, it withdraws the rule.
func (e *env) declare(s *table.Service, name table.Name, rule *table.Expiry) {
	e.Helper()
	if err := s.SetTableOptions(e.Context(), name, "", table.TableOptions{Expire: rule}); err != nil {
		e.Fatalf("SetTableOptions: %v", err)
	}
	e.awaitReplicas()
}

// upkeep runs a complete pass of upkeep, which removes the expired entities of a table.
func (e *env) upkeep(s *table.Service, name table.Name) (removed int) {
	e.Helper()
	u := table.Upkeep{Table: name} // TakeUpkeep need not be called, because concurrent passes do no harm
	for range 1000 {
		done, err := s.Upkeep(e.Context(), &u)
		if err != nil {
			e.Fatalf("Upkeep: %v", err)
		}
		if done {
			e.awaitReplicas()
			return u.Removed
		}
	}
	e.Fatal("a pass of upkeep does not end")
	return 0
}

// rowKeys returns the keys of the rows that a scan finds. If ended is set, these are the keys of expired entities, and
// otherwise those of all other entities.
func (e *env) rowKeys(name table.RecordKey, ended bool) (list []string) {
	e.Helper()
	r := table.ScanRequest{Ranges: []key.Range{{}}, Rows: 3, Ended: ended}
	for _, page := range e.pages(name, r, func([]byte) {}) {
		for _, row := range page {
			list = append(list, showKey(row.Key))
		}
	}
	return list
}

// expectRemoved checks how many entities a pass of upkeep removed. If the store itself removes expired entities,
// the pass may remove fewer entities than expected.
func (e *env) expectRemoved(got, want int) {
	e.Helper()
	if got != want && !(e.Removes && got < want) {
		e.Errorf("%d entities removed, want %d", got, want)
	}
}

func (e *env) expectKeys(what string, name table.RecordKey, ended bool, want ...string) {
	e.Helper()
	if got := e.rowKeys(name, ended); !slices.Equal(got, want) {
		e.Errorf("%s: ended %v: got %v, want %v", what, ended, got, want)
	}
}
