package storetest

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// applied is a commit that has taken effect.
type applied struct {
	mutation table.Mutation
	ticks    edm.Ticks
}

// overlaps runs many goroutines that insert, upsert and delete one entity. In the order of their Timestamps,
// [table.Apply] must accept each commit.
//
// Without TimestampsAcrossProcesses, all clients use the same store, because the order holds only within one process.
// Without Conditional or Linearizable, the order cannot be checked.
func overlaps(e *env) {
	stores := [2]table.Store{e.Store, e.Store}
	if e.has.TimestampsAcrossProcesses {
		stores[1] = e.second(e.clock.now)
	}
	e.overlap(stores)
}

func (e *env) overlap(stores [2]table.Store) {
	if !e.has.Conditional || !e.has.Linearizable {
		return
	}
	choices := []table.Mutation{put("p", "r", "upsert"), absent(put("p", "r", "insert")), remove("p", "r"), remove("p", "r")}
	name := e.create("overlaps")
	var mu sync.Mutex
	var history []applied
	var all sync.WaitGroup
	for id := range 8 {
		rnd := rand.New(rand.NewPCG(8, uint64(id)))
		all.Go(func() {
			for range e.repetitions(400, 150) {
				runtime.Gosched() // this makes the goroutines overlap even if the store is fast
				m := choices[rnd.IntN(len(choices))]
				ticks, err := stores[id%2].Commit(e.Context(), name, []table.Mutation{m})
				switch refusal := (*table.Refused)(nil); {
				case err == nil:
					mu.Lock()
					history = append(history, applied{m, ticks})
					mu.Unlock()
				case !errors.Is(err, table.ErrBusy) && !errors.As(err, &refusal):
					e.Errorf("Commit(%s): %s", describe([]table.Mutation{m}), reason(err))
				}
			}
		})
	}
	all.Wait()
	slices.SortFunc(history, func(a, b applied) int { return int(a.ticks - b.ticks) })
	var row *table.Row
	for _, c := range history {
		var err error
		if row, err = table.Apply(row, c.mutation, c.ticks); err != nil {
			e.Fatalf("Timestamps do not rise in the order of the commits: %s @%d comes after all lower ones: %v",
				describe([]table.Mutation{c.mutation}), c.ticks, err)
		}
	}
	want := shown(table.Row{}, table.ErrNoEntity)
	if row != nil {
		want = formatRow(*row)
	}
	e.expect("after all commits", name, at("p", "r"), want)
}
