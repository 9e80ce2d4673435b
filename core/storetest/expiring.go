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

// ends returns properties of an entity that expires at the given instant. In the tests, each rule of expiry names the
// property "E", which contains the instant.
func ends(at edm.Ticks, v string) edm.Properties {
	return edm.AppendProperty(text(v), "E", edm.DateTime(at))
}

// matured is an age at which a rule of expiry removes expired entities. A younger rule might only hide the entities.
const matured = table.UndoTime + 90*second

// advance advances the clock, which otherwise stands still in these tests.
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

// declaring wraps a store and declares that the store supports rules of expiry.
type declaring struct{ table.Store }

func (s declaring) Unwrap() table.Store             { return s.Store }
func (s declaring) Declares() (name string, _ bool) { return "the store", true }

// pauses wraps a store. Its method Scan passes the rows to the function found before it returns them.
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

// upkeep makes a complete pass of upkeep over a table.
func (e *env) upkeep(s *table.Service, name table.Name) (removed int) {
	e.Helper()
	u := table.Upkeep{Table: name} // no TakeUpkeep is necessary, because concurrent passes do no harm
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

// rowKeys returns the keys of the expired entities if ended is true, and otherwise the keys of all other entities.
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

// expectRemoved checks how many entities a pass of upkeep has removed. The number may be lower than want if the store
// itself removes expired entities.
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
