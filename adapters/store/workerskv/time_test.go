package workerskv_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"edgetable/adapters/store/workerskv"
	"edgetable/core/key"
	"edgetable/core/memstore"
	"edgetable/core/table"
)

// Over hours, single writes and transactions of a few entities at all distances
// in time: the writer always sees what the reference has, and so does the next one,
// which takes its place after the two minutes that it has to wait.
func TestOverTime(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		rnd := rand.New(rand.NewPCG(seed, 13))
		w := newWorld(t, seed)
		now := steady()
		o := workerskv.Options{SingleWriter: true}
		s := w.isolate(now, o)
		reference := memstore.New(now)
		w.create(s, 1)
		d := table.Record{Key: tableName}
		d.Incarnation[0] = 1
		if _, err := reference.WriteRecord(w.Context(), d); err != nil {
			t.Fatal(err)
		}
		request := table.ScanRequest{Ranges: []key.Range{{}}}
		for i := range 200 {
			var m []table.Mutation
			for range 1 + rnd.IntN(3)/2*(1+rnd.IntN(2)) {
				one := number("p", fmt.Sprint(rnd.IntN(4)), int32(1000+i))
				switch rnd.IntN(4) {
				case 0:
					one = table.Mutation{Key: one.Key, Kind: table.Delete, Condition: table.Present}
				case 1:
					one.Kind = table.Merge
				case 2:
					one.Condition = table.Absent
				}
				if !slices.ContainsFunc(m, func(o table.Mutation) bool { return string(o.Key) == string(one.Key) }) {
					m = append(m, one)
				}
			}
			_, want := reference.Commit(w.Context(), tableName, m)
			_, got := s.Commit(w.Context(), tableName, m)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("seed %d, %d: Commit got %v, want %v", seed, i, got, want)
			}
			w.wait(time.Duration(rnd.Int64N(int64(time.Minute))))
			if rnd.IntN(10) == 0 {
				w.settle()
				s = w.isolate(now, o)
			}
			if got, want := w.show(s, request.Ranges[0], 0), w.show(reference, request.Ranges[0], 0); got != want {
				t.Fatalf("seed %d, %d: after %d mutations\n got %s\nwant %s", seed, i, len(m), got, want)
			}
		}
	}
}

// What an isolate remembers of its own writes does not hide what others wrote
// since, for longer than KV does.
func TestOthersAreSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	now := steady()
	one, other := w.isolate(now, workerskv.Options{}), w.isolate(now, workerskv.Options{})
	w.create(one, 1)
	for i, s := range []*workerskv.Store{one, other} {
		if _, err := s.Commit(w.Context(), tableName, []table.Mutation{number("p", "r", int32(i))}); err != nil {
			t.Fatal(err)
		}
		if got, want := w.show(s, partition("p"), 0), fmt.Sprintf("p/r=%d ", i); got != want {
			t.Errorf("isolate %d sees %q, and wrote %q", i, got, want)
		}
		w.wait(2 * time.Second)
	}
	w.wait(time.Minute)
	if got := w.show(one, partition("p"), 0); got != "p/r=1 " {
		t.Errorf("a minute after another wrote there is %q", got)
	}
	row, err := one.Get(w.Context(), tableName, key.Append(nil, "p", "r"), table.Strong)
	if v, _ := row.Properties.Lookup("n"); err != nil || v.Int() != 1 {
		t.Errorf("a minute after another wrote Get shows %d, %v", v.Int(), err)
	}
}
