package workerskv_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"edgetable/adapters/store/workerskv"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// fill puts n entities into the partition "p", with the RowKeys "1000", "1001" and so on.
func (w *world) fill(s *workerskv.Store, n int) {
	w.Helper()
	for i := range n {
		w.commit(s, number("p", fmt.Sprint(1000+i), 1))
	}
	w.settle()
}

// TestFewRowsBehindMany checks that a scan of a few rows after many other rows needs few lists of KV.
func TestFewRowsBehindMany(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.cloud.stale, w.cloud.cursed = false, false
	s := w.isolate(steady(), workerskv.Options{})
	w.create(s, 1)
	w.fill(s, 2000)
	before := w.cloud.lists
	page, err := s.Scan(t.Context(), tableName, table.ScanRequest{
		Ranges: []key.Range{{Start: key.RowFrom("p", "2900"), End: key.PartitionAfter("p")}}, Rows: 1,
	})
	if err != nil || len(page.Rows) != 1 {
		t.Fatal(len(page.Rows), err)
	}
	if lists := w.cloud.lists - before; lists > 4 {
		t.Errorf("a row behind 1,900 others took %d lists", lists)
	}
}

// slow is a Namespace that needs a second for a list of ten names.
type slow struct {
	workerskv.Namespace
	wait func(time.Duration)
}

func (s slow) List(ctx context.Context, prefix, cursor string, limit int) ([]workerskv.Key, string, error) {
	s.wait(time.Second)
	return s.Namespace.List(ctx, prefix, cursor, min(limit, 10))
}

// TestPageOfSlowLists checks that a page ends when its time is over, even if it has no rows
// yet, and that the next page continues where this page ended.
func TestPageOfSlowLists(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.cloud.stale, w.cloud.cursed = false, false
	s := w.isolate(steady(), workerskv.Options{Namespace: slow{w.cloud, w.wait}})
	w.create(s, 1)
	w.fill(s, 500)
	found, pages := 0, 0
	begin := w.cloud.time
	for page := range w.pages(s, table.ScanRequest{
		Ranges:  []key.Range{{Start: key.RowFrom("p", "1499"), End: key.PartitionAfter("p")}},
		Expired: func() bool { return w.cloud.time > begin+5*edm.TicksPerSecond },
	}) {
		if pages++; pages > 21 {
			t.Fatal(pages)
		}
		if took := w.cloud.time - begin; took > 12*edm.TicksPerSecond {
			t.Fatalf("a page of 5 seconds took %d", took/edm.TicksPerSecond)
		}
		found += len(page.Rows)
		begin = w.cloud.time
	}
	if found != 1 {
		t.Errorf("of one row %d are found", found)
	}
}
