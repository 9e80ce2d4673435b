package workerskv_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/adapters/store/workerskv"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// bubble is an isolate in a bubble of synctest, where a write takes its time and
// a pause is one.
func bubble(t *testing.T, o workerskv.Options) (*world, *workerskv.Store) {
	t.Helper()
	w := newWorld(t, 1)
	w.cloud.stale = false
	w.cloud.real = func() edm.Ticks { return edm.TicksOf(time.Now()) }
	o.Namespace, o.Now = w.cloud, w.cloud.real
	o.Pause = func(_ context.Context, d time.Duration) { time.Sleep(d) }
	s, err := workerskv.New(o)
	if err != nil {
		t.Fatal(err)
	}
	d := table.Record{Key: tableName}
	d.Incarnation[0] = 1
	if _, err := s.WriteRecord(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	w.cloud.takes = 300 * time.Millisecond
	return w, s
}

// merge sets one property of the entity that all write.
func merge(row, name string) table.Mutation {
	return table.Mutation{Key: key.Append(nil, "p", row), Kind: table.Merge, Nonce: 1, Properties: edm.AppendProperty(nil, name, edm.Int32(1))}
}

// Those who write one entity at the same time share a put, and each has its part
// in it: of a single one, and of a journal.
func TestWritesShareAPut(t *testing.T) {
	t.Parallel()
	for _, single := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w, s := bubble(t, workerskv.Options{SingleWriter: single})
			begin, before := time.Now(), w.cloud.writes
			var all sync.WaitGroup
			for i := range 100 {
				all.Go(func() {
					batch := []table.Mutation{merge("r", fmt.Sprint("n", i))}
					if single {
						batch = append(batch, merge("s", fmt.Sprint("n", i)))
					}
					if _, err := s.Commit(t.Context(), tableName, batch); err != nil {
						t.Errorf("Commit: %v", err)
					}
				})
			}
			all.Wait()
			if puts := w.cloud.writes - before; puts > 2 || time.Since(begin) > 2*time.Second {
				t.Errorf("100 writes took %d puts and %v", puts, time.Since(begin))
			}
			row, err := s.Get(t.Context(), tableName, key.Append(nil, "p", "r"), table.Strong)
			if n := row.Properties.Count(); n != 100 || err != nil {
				t.Errorf("of 100 merges %d are left, %v", n, err)
			}
		})
	}
}

// A name rests for as long as its namespace asks for.
func TestInterval(t *testing.T) {
	t.Parallel()
	for interval, want := range map[time.Duration]time.Duration{0: time.Second, 3 * time.Second: 3 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			w, s := bubble(t, workerskv.Options{Interval: interval})
			w.cloud.takes = 0
			begin := time.Now()
			for range 3 {
				if _, err := s.Commit(t.Context(), tableName, []table.Mutation{merge("r", "n")}); err != nil {
					t.Fatal(err)
				}
			}
			if got := time.Since(begin); got != 2*want {
				t.Errorf("with an interval of %v, three writes took %v", interval, got)
			}
		})
	}
}

// Who has no time to wait for its turn is sent away, and nothing of it is
// written, then or later.
func TestNoTurnInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, s := bubble(t, workerskv.Options{})
		if _, err := s.Commit(t.Context(), tableName, []table.Mutation{merge("r", "first")}); err != nil {
			t.Fatal(err)
		}
		for _, d := range []time.Duration{500 * time.Millisecond, 990 * time.Millisecond} {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			begin := time.Now()
			_, err := s.Commit(ctx, tableName, []table.Mutation{merge("r", "second")})
			cancel()
			if !errors.Is(err, table.ErrBusy) || time.Since(begin) > 0 {
				t.Errorf("with %v: got %v after %v, want ErrBusy at once", d, err, time.Since(begin))
			}
		}
		if _, err := s.Commit(t.Context(), tableName, []table.Mutation{merge("r", "third")}); err != nil {
			t.Fatal(err)
		}
		row, err := s.Get(t.Context(), tableName, key.Append(nil, "p", "r"), table.Strong)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := row.Properties.Lookup("second"); ok || row.Properties.Count() != 2 {
			t.Errorf("there is %q", row.Properties)
		}
	})
}

// Different entities do not wait for each other, and a transaction only for those
// in its partition.
func TestTurnsApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, s := bubble(t, workerskv.Options{SingleWriter: true})
		begin := time.Now()
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				if _, err := s.Commit(t.Context(), tableName, []table.Mutation{merge(fmt.Sprint(i), "n")}); err != nil {
					t.Errorf("Commit: %v", err)
				}
			})
		}
		all.Wait()
		if took := time.Since(begin); took > 400*time.Millisecond {
			t.Errorf("50 entities took %v, and each 300 ms", took)
		}
	})
}

// A transaction and a write of one of its entities, each begun while the other is
// under way, see each other.
func TestSinglesAndTransactions(t *testing.T) {
	t.Parallel()
	insert := func(row string) table.Mutation {
		m := merge(row, "n")
		m.Kind, m.Condition = table.Put, table.Absent
		return m
	}
	single, batch := []table.Mutation{insert("r")}, []table.Mutation{insert("q"), insert("r")}
	for _, order := range [][2][]table.Mutation{{single, batch}, {batch, single}, {batch, batch}, {single, single}} {
		synctest.Test(t, func(t *testing.T) {
			_, s := bubble(t, workerskv.Options{SingleWriter: true})
			var errs [2]error
			var all sync.WaitGroup
			for i, m := range order {
				all.Go(func() {
					time.Sleep(time.Duration(i) * 100 * time.Millisecond)
					_, errs[i] = s.Commit(t.Context(), tableName, m)
				})
			}
			all.Wait()
			if errs[0] != nil || !errors.Is(errs[1], table.ErrExists) {
				t.Errorf("%d, then %d inserts: got %v, then %v", len(order[0]), len(order[1]), errs[0], errs[1])
			}
		})
	}
}

// Where a transaction of the partition always waits, writes of its entities have
// their turn while the journal rests.
func TestSinglesAmongTransactions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, s := bubble(t, workerskv.Options{SingleWriter: true})
		var all sync.WaitGroup
		end := time.Now().Add(20 * time.Second)
		for i := range 3 {
			all.Go(func() {
				for time.Now().Before(end) {
					batch := []table.Mutation{merge(fmt.Sprint("q", i), "n"), merge(fmt.Sprint("r", i), "n")}
					if _, err := s.Commit(t.Context(), tableName, batch); err != nil {
						t.Error(err)
					}
				}
			})
		}
		for i := range 3 {
			all.Go(func() {
				time.Sleep(5 * time.Second)
				if _, err := s.Commit(t.Context(), tableName, []table.Mutation{merge(fmt.Sprint("s", i), "n")}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
}
