package pebblestore_test

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// TestSettledRace makes the disk full and then not full, again and again, during writes. It checks
// that no read is refused. Each page must show all commits that were confirmed before its scan,
// never a part of a commit, and nothing that a killed process would lose.
func TestSettledRace(t *testing.T) {
	t.Parallel()
	const partitions = 4
	w := newWorld(t)
	must.OK(t, w.make("one", 1)())
	var confirmed [partitions]atomic.Int64
	var end atomic.Bool
	var load sync.WaitGroup
	name := func(p int) string { return fmt.Sprint("p", p) }
	for p := range partitions {
		load.Go(func() {
			for n := int64(1); !end.Load(); n++ {
				var list []table.Mutation
				for row := range 3 { // row 0 always exists; rows 1 and 2 exist alternately
					m := table.Mutation{Key: rowKey(name(p), row), Properties: edm.AppendProperty(nil, "N", edm.Int64(n))}
					if row > 0 && int64(row) == n%2+1 {
						m = table.Mutation{Key: m.Key, Kind: table.Delete, Condition: table.Present}
						if n == 1 {
							continue
						}
					}
					list = append(list, m)
				}
				_, err := w.store.Commit(t.Context(), tableKey("one"), list)
				if errors.Is(err, table.ErrFull) {
					n--
					runtime.Gosched()
					continue
				}
				if err != nil {
					t.Errorf("commit %d: %v", n, err)
					return
				}
				confirmed[p].Store(n)
			}
		})
	}
	// state reads a page and returns the number of the last commit of each partition in it.
	state := func(s *pebblestore.Store) (state [partitions]int64) {
		page, err := s.Scan(t.Context(), tableKey("one"), table.ScanRequest{Ranges: []key.Range{{}}})
		if err != nil {
			t.Errorf("a scan: %v", err)
			return state
		}
		for p := range partitions {
			rows := 0
			for _, r := range page.Rows {
				partition, row := key.Decode(r.Key)
				if partition != name(p) {
					continue
				}
				rows++
				v, _ := r.Properties.Lookup("N")
				if n := v.Int(); state[p] != 0 && state[p] != n || row == fmt.Sprint("r", n%2+1) {
					t.Errorf("partition %d shows half of a commit: %v", p, page.Rows)
				}
				state[p] = v.Int()
			}
			if rows != 2 && state[p] != 0 {
				t.Errorf("partition %d has %d rows", p, rows)
			}
		}
		return state
	}
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	for range rounds {
		w.disk.setLimit(w.disk.used() + 20<<10)
		for stalled := false; !stalled && !t.Failed(); { // repeats until a commit finds no space
			w.store.Measure()
			var before [partitions]int64
			for p := range confirmed {
				before[p] = confirmed[p].Load()
			}
			shown := state(w.store)
			for p := range shown {
				if shown[p] < before[p] {
					t.Errorf("partition %d shows commit %d, and %d is confirmed", p, shown[p], before[p])
				}
				row, err := w.store.Get(t.Context(), tableKey("one"), rowKey(name(p), 0), table.Strong)
				if v, _ := row.Properties.Lookup("N"); shown[p] > 0 && (err != nil || v.Int() < shown[p]) {
					t.Errorf("partition %d shows commit %d after %d: %v", p, v.Int(), shown[p], err)
				}
			}
			select {
			case <-w.store.Stalled():
				stalled = true
			default:
				continue
			}
			s, err := pebblestore.Open(w.options(w.disk.CrashClone(vfs.CrashCloneCfg{})))
			must.OK(t, err)
			kept := state(s)
			must.OK(t, s.Close())
			for p := range shown {
				if kept[p] < shown[p] {
					t.Errorf("partition %d showed commit %d, and a killed process has kept %d", p, shown[p], kept[p])
				}
			}
		}
		w.disk.makeSpace()
		waitForSpace(w.store)
		if t.Failed() {
			break
		}
	}
	end.Store(true)
	load.Wait()
	must.OK(t, w.store.Close())
}
