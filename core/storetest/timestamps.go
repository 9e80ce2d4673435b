package storetest

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Timestamps checks that no ETag ever identifies two states of an entity: the Timestamps of a table never repeat, and
// those of a key strictly increase, whatever the clock does.
func Timestamps(t *testing.T, h Harness) {
	run(t, h, []law{
		{"Frozen", func(e *env) { timestamps(e, 0) }},
		{"Backward", func(e *env) { timestamps(e, -millisecond) }},
		{"Running", func(e *env) { timestamps(e, millisecond) }},
		{"Writers", writers},
		{"Overlaps", overlaps},
		{"Shared", sharedTimestamps},
		{"Lives", laterLives},
		{"Purged", purgeLaw},
		{"TakenOver", takeOverLaw},
	})
}

// issued contains the Timestamps that the store issued for one table.
type issued struct {
	mu   sync.Mutex
	all  map[edm.Ticks]string // the Commit of each Timestamp, as text
	last map[string]edm.Ticks // the last Timestamp of each key
}

func newIssued() *issued {
	return &issued{all: make(map[edm.Ticks]string), last: make(map[string]edm.Ticks)}
}

func (i *issued) add(e *env, ticks edm.Ticks, m []table.Mutation, ordered bool) {
	e.Helper()
	i.mu.Lock()
	defer i.mu.Unlock()
	if what, ok := i.all[ticks]; ok {
		e.Errorf("Timestamp %d names two states: it was given to\n    %s\nand to\n    %s", ticks, what, describe(m))
	}
	i.all[ticks] = describe(m)
	for _, one := range m {
		if last := i.last[string(one.Key)]; ordered && ticks <= last {
			e.Errorf("Timestamps of %s do not increase: %d, then %d", showKey(one.Key), last, ticks)
		}
		i.last[string(one.Key)] = ticks
	}
}

// timestamps writes and deletes a few keys, with a clock that moves by step at each reading. Sometimes the clock steps
// back, the store restarts, or the table is created again.
func timestamps(e *env, step edm.Ticks) {
	rnd := rand.New(rand.NewPCG(uint64(step), 1))
	name := e.create("ticks")
	seen := newIssued()
	e.clock.step.Store(int64(step))
	for i := range 300 {
		switch i % 100 {
		case 50:
			e.stepBack(step > 0)
		case 99:
			e.drop(name)
			e.create("ticks")
		}
		m := randomWrite(rnd)
		ticks, err := e.commit(name, m...)
		if e.wasApplied(m, err) {
			seen.add(e, ticks, m, true)
			if m[0].Kind != table.Delete {
				e.expect("after a write", name, m[0].Key, showWritten(m[0], ticks))
			}
		}
	}
}

// stepBack sets the clock back an hour, and restarts the store if possible. If the store lacks
// TimestampsAcrossProcesses, it does only one of the two.
func (e *env) stepBack(running bool) {
	restart := e.Restart != nil && (e.has.TimestampsAcrossProcesses || running)
	if e.has.TimestampsAcrossProcesses || !restart {
		e.clock.ticks.Add(-3600 * edm.TicksPerSecond)
	}
	if restart {
		e.Store = e.Restart(e.clock.now)
	}
}

// randomWrite returns a put, an insert or a delete of one of three keys, or a batch.
func randomWrite(rnd *rand.Rand) []table.Mutation {
	row := string(rune('a' + rnd.IntN(3)))
	switch rnd.IntN(8) {
	case 0, 1:
		return []table.Mutation{put("p", row, "put")}
	case 2, 3, 4:
		return []table.Mutation{remove("p", row)}
	case 5, 6:
		return []table.Mutation{absent(put("p", row, "insert"))}
	}
	return []table.Mutation{put("p", "a", "batch"), put("p", "c", "batch")}
}

// writers checks the Timestamps of concurrent writers while the clock stands still.
func writers(e *env) {
	name := e.create("writers")
	seen := newIssued()
	e.clock.step.Store(0)
	var done sync.WaitGroup
	for w := range 4 {
		alone := w%2 == 0 // only in a partition with a single writer does the test know the order of the writes
		partition := "all"
		if alone {
			partition = string(rune('a' + w))
		}
		done.Go(func() {
			for range 25 {
				m := []table.Mutation{put(partition, "r", "")}
				ticks, err := e.Store.Commit(e.Context(), name, m)
				switch {
				case err == nil:
					seen.add(e, ticks, m, alone)
				case !errors.Is(err, table.ErrBusy):
					e.Errorf("Commit(%s): %s", describe(m), reason(err))
				}
			}
		})
	}
	done.Wait()
}

// sharedTimestamps checks the Timestamps of two stores over the same data. With TimestampsAcrossProcesses, one clock
// stands still, an hour behind the other.
func sharedTimestamps(e *env) {
	name := e.create("shared")
	other := e.clock
	if e.has.TimestampsAcrossProcesses {
		other = newClock()
		other.step.Store(0)
		other.ticks.Add(-3600 * edm.TicksPerSecond)
	}
	stores := [2]table.Store{e.Store, e.second(other.now)}
	rnd := rand.New(rand.NewPCG(4, 2))
	seen := newIssued()
	for i := range 200 {
		m := randomWrite(rnd)
		ticks, err := stores[i*7/3%2].Commit(e.Context(), name, m)
		e.awaitReplicas()
		if e.wasApplied(m, err) {
			seen.add(e, ticks, m, true)
		}
	}
}
