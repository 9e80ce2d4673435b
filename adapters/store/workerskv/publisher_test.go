package workerskv_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/adapters/store/workerskv"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// TestPublishAtOnce checks that Rows passes all changes to one call of Namespace.Write, which can carry them out
// concurrently. Each page of names that Purge deletes must also be one call.
func TestPublishAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.cloud.stale, w.cloud.cursed = false, false
		pub := workerskv.NewPublisher(w.cloud, func() edm.Ticks { return w.cloud.time })
		row := func(n int, ticks edm.Ticks) table.Change {
			k := key.Append(nil, "p", fmt.Sprint(n))
			return table.Change{Key: k, Ticks: ticks, Row: &table.Row{Key: k, Timestamp: ticks}}
		}
		if _, err := pub.Rows(t.Context(), incarnation, []table.Change{row(0, 1)}); err != nil {
			t.Fatal(err)
		}
		var changes []table.Change
		for n := range 100 {
			changes = append(changes, row(n, 2))
		}
		changes = append(changes, row(99, 3))
		w.cloud.calls, w.cloud.writes = 0, 0
		const takes = 50 * time.Millisecond
		w.cloud.takes = func() { time.Sleep(takes) }
		begin := time.Now()
		done, err := pub.Rows(t.Context(), incarnation, changes)
		if took := time.Since(begin); err != nil || took != 17*takes {
			t.Errorf("it took %s: %v", took, err)
		}
		if w.cloud.calls != 1 || w.cloud.writes != 99 {
			t.Errorf("%d calls, %d writes", w.cloud.calls, w.cloud.writes)
		}
		for i, done := range done {
			if done != (i > 0) {
				t.Errorf("change %d: %v", i, done)
			}
		}
		w.wait(time.Second)
		w.cloud.calls = 0
		for _, want := range []bool{true, false} { // the first call makes 2 lists and 59 writes, the second the other 41 writes
			if more, err := pub.Purge(t.Context(), incarnation, "source/", 61); err != nil || more != want {
				t.Errorf("more %v, %v", more, err)
			}
			w.wait(time.Second)
		}
		if left := w.cloud.left("e"); left != 0 || w.cloud.calls != 2 {
			t.Errorf("%d names are left behind %d calls", left, w.cloud.calls)
		}
	})
}
