package storetest

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// storesAnHourApart returns the store and another store over the same data, whose clock is an hour slow.
func (e *env) storesAnHourApart() [2]table.Store {
	slow := newClock()
	slow.ticks.Add(-3600 * edm.TicksPerSecond)
	return [2]table.Store{e.Store, e.second(slow.now)}
}

// laterLives checks the Timestamps of several incarnations of a table. One process writes to the table, and another
// process, with a different clock, drops it. No Timestamp may repeat, and the Timestamps of each key must increase.
func laterLives(e *env) {
	if !e.has.TimestampsAcrossProcesses {
		return
	}
	stores := e.storesAnHourApart()
	seen := newIssued()
	for incarnation := range 6 {
		e.Store = stores[incarnation%2]
		name := e.create("lives")
		for _, row := range []string{"a", "b"} {
			m := put("p", row, fmt.Sprint("life ", incarnation))
			seen.add(e, e.mustCommit(name, m), []table.Mutation{m}, true)
			if row == "b" && incarnation%3 == 0 {
				m = remove("p", row)
				seen.add(e, e.mustCommit(name, m), []table.Mutation{m}, true)
			}
		}
		e.Store = stores[(incarnation+1)%2]
		e.drop(name)
		if e.Purge != nil {
			e.Purge()
		}
	}
}

// purgeLaw checks that the Timestamps of a key increase even if the store removes tombstones of deleted entities, at
// any time and during writes of processes whose clocks disagree.
func purgeLaw(e *env) {
	if e.Purge == nil || !e.has.TimestampsAcrossProcesses {
		return
	}
	stores := e.storesAnHourApart()
	name := e.create("purged")
	rnd := rand.New(rand.NewPCG(6, 6))
	seen := newIssued()
	for i := range 120 {
		m := randomWrite(rnd)
		ticks, err := stores[rnd.IntN(2)].Commit(e.Context(), name, m)
		if e.wasApplied(m, err) {
			seen.add(e, ticks, m, true)
		}
		if i%3 == 0 {
			e.Purge()
		}
	}
	// In each hour, the store with the fast clock deletes an entity. Then the store with the slow clock writes the
	// entity again.
	for i := range 4 {
		e.clock.ticks.Add(3600 * int64(edm.TicksPerSecond))
		row := fmt.Sprint("hour ", i)
		for j, m := range []table.Mutation{put("p", row, "fast"), remove("p", row), put("p", row, "slow")} {
			if j == 2 {
				e.Purge()
			}
			ticks, err := stores[j/2].Commit(e.Context(), name, []table.Mutation{m})
			if err != nil {
				e.Fatalf("Commit(%s): %s", describe([]table.Mutation{m}), reason(err))
			}
			seen.add(e, ticks, []table.Mutation{m}, true)
		}
	}
	end := make(chan struct{})
	var purges sync.WaitGroup
	purges.Go(func() {
		for {
			select {
			case <-end:
				return
			default:
				e.Purge()
			}
		}
	})
	e.overlap(stores)
	close(end)
	purges.Wait()
}

// takeOverLaw checks a process that stalls so long that another takes over its resources, and then resumes. No
// Timestamp may repeat, and the Timestamps of each key must increase.
func takeOverLaw(e *env) {
	if e.TakeOver == nil {
		return
	}
	name := e.create("taken")
	e.clock.step.Store(0)
	seen := newIssued()
	write := func(s table.Store, m table.Mutation, ordered bool) {
		ticks, err := s.Commit(e.Context(), name, []table.Mutation{m})
		if err != nil {
			e.Errorf("Commit(%s): %s", describe([]table.Mutation{m}), reason(err))
			return
		}
		seen.add(e, ticks, []table.Mutation{m}, ordered)
	}
	write(e.Store, put("p", "r", "before"), true)
	for round := range 4 {
		next := e.TakeOver(e.clock.now)
		if round > 0 { // the clock passes all Timestamps that the stalled process has reserved, so the process must reserve new ones
			e.clock.ticks.Add(60 * int64(edm.TicksPerSecond))
		}
		var both sync.WaitGroup
		for i, s := range []table.Store{e.Store, next} {
			both.Go(func() {
				for range 40 {
					write(s, put("p", fmt.Sprint("own ", i), ""), true)
				}
			})
		}
		both.Wait()
		for i := range 20 {
			write([]table.Store{e.Store, next}[i%2], put("p", "r", fmt.Sprint(round, i)), true)
		}
		e.Store = next
	}
}
