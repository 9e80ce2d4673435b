package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// attemptAt is a Commit that puts or deletes one entity, with the times of its call and its
// return.
type attemptAt struct {
	nonce      uint64 // the nonce of a put; 0 for a delete
	call, back int64
}

// convergenceLaw checks a store that declares no [Strengths]. After the last write, all stores and all ways to read
// must finally return the same state of each entity.
func convergenceLaw(e *env) {
	name := e.create("converges")
	stores := [2]table.Store{e.Store, e.second(e.clock.now)}
	var now atomic.Int64
	var mu sync.Mutex
	done := make(map[string][]attemptAt)
	var all sync.WaitGroup
	for id := range 4 {
		rnd := rand.New(rand.NewPCG(uint64(id), 11))
		s := stores[id%2]
		all.Go(func() {
			for i := range e.repetitions(40, 10) {
				k := universe[rnd.IntN(len(universe))]
				one := attemptAt{nonce: uint64(id)<<32 | uint64(i) | 1<<31, call: now.Add(1)}
				m := table.Mutation{Key: []byte(k), Nonce: one.nonce, Properties: text(fmt.Sprint(one.nonce))}
				if rnd.IntN(4) == 0 {
					m = table.Mutation{Key: []byte(k), Kind: table.Delete, Condition: table.Present}
					one.nonce = 0
				}
				_, err := s.Commit(e.Context(), name, []table.Mutation{m})
				one.back = now.Add(1)
				var refusal *table.Refused
				switch {
				case err == nil:
					mu.Lock()
					done[k] = append(done[k], one)
					mu.Unlock()
				case unknown(err) && e.Lossy:
					one.back = never
					mu.Lock()
					done[k] = append(done[k], one)
					mu.Unlock()
				case !errors.As(err, &refusal) && !errors.Is(err, table.ErrBusy) && !e.lacksStrength(err, []table.Mutation{m}):
					e.Errorf("Commit(%s): %s", describe([]table.Mutation{m}), reason(err))
				}
			}
		})
	}
	all.Wait()
	e.awaitReplicas()
	for _, k := range universe {
		want := shown(stores[0].Get(e.Context(), name, []byte(k), table.Strong))
		for i, s := range stores {
			for _, c := range []table.Consistency{table.Strong, table.Eventual} {
				if got := shown(s.Get(e.Context(), name, []byte(k), c)); got != want {
					e.Errorf("store %d, consistency %d: Get got %s, and %s elsewhere", i, c, got, want)
				}
			}
			page, err := s.Scan(e.Context(), name, table.ScanRequest{Ranges: []key.Range{{Start: []byte(k), End: append([]byte(k), 1)}}})
			got := reason(table.ErrNoEntity)
			if len(page.Rows) == 1 {
				got = formatRow(page.Rows[0])
			}
			if err != nil || got != want {
				e.Errorf("store %d: Scan got %s, %v, and Get %s", i, got, err, want)
			}
		}
		row, err := stores[0].Get(e.Context(), name, []byte(k), table.Strong)
		if err != nil {
			row = table.Row{Timestamp: edm.Ticks(0)}
		}
		if !mayBeLast(done[k], row.Nonce) {
			e.Errorf("%s: there is %s, which others were written after: %v", showKey([]byte(k)), want, done[k])
		}
	}
}

// mayBeLast reports whether the write with the given nonce may be the last write that was applied.
func mayBeLast(done []attemptAt, nonce uint64) bool {
	var latest int64 // start of the latest call whose outcome is known
	for _, one := range done {
		if one.back != never {
			latest = max(latest, one.call)
		}
	}
	if len(done) == 0 {
		return nonce == 0
	}
	last := slices.ContainsFunc(done, func(one attemptAt) bool { return one.nonce == nonce && one.back > latest })
	return last || nonce == 0 && latest == 0
}
