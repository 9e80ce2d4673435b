package pebblestore_test

import (
	"fmt"
	"testing"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// TestLatest compares a descending scan for the last ten rows of a large partition with an ascending scan
// for its first ten rows. Both must examine ten rows. The descending scan may read at most two blocks more.
func TestLatest(t *testing.T) {
	t.Parallel()
	n := 1_000_000
	if testing.Short() {
		n = 50_000
	}
	s := open(t, pebblestore.Options{Memory: true, Now: func() edm.Ticks { return edm.MinDateTime }})
	must.OK(t, create(t.Context(), s))
	batch := make([]table.Mutation, 0, 100)
	for _, p := range []string{"a", "p", "z"} {
		size := n
		if p != "p" {
			size = n / 100
		}
		for i := range size {
			batch = append(batch, table.Mutation{Key: key.Append(nil, p, fmt.Sprintf("%09d", i)), Nonce: 1, Properties: edm.AppendProperty(nil, "N", edm.Int32(int32(i)))})
			if len(batch) == cap(batch) {
				_, err := s.Commit(t.Context(), people, batch)
				must.OK(t, err)
				batch = batch[:0]
			}
		}
	}
	must.OK(t, s.DB().Flush())
	must.OK(t, s.DB().Compact(t.Context(), []byte{0}, []byte{0xff}, false))
	cost := func(descending bool) (blocks int64, rows int, first string) {
		m := s.DB().Metrics().BlockCache
		page, err := s.Scan(t.Context(), people, table.ScanRequest{
			Ranges: []key.Range{{Start: key.PartitionFrom("p"), End: key.PartitionAfter("p")}}, Rows: 10, Descending: descending,
		})
		must.OK(t, err)
		if len(page.Rows) != 10 || page.Next == nil {
			t.Fatalf("%d rows, Next %q", len(page.Rows), page.Next)
		}
		_, first = key.Decode(page.Rows[0].Key)
		after := s.DB().Metrics().BlockCache
		return after.Hits + after.Misses - m.Hits - m.Misses, page.Examined, first
	}
	first, examined, row := cost(false)
	latest, examinedBack, last := cost(true)
	if row != fmt.Sprintf("%09d", 0) || last != fmt.Sprintf("%09d", n-1) || examined != 10 || examinedBack != 10 {
		t.Errorf("from %s, %d rows examined; from %s, %d rows examined", row, examined, last, examinedBack)
	}
	t.Logf("of %d rows the first ten take %d blocks, the latest ten %d", n, first, latest)
	if latest > first+2 || first == 0 {
		t.Errorf("of %d rows the first ten take %d blocks, the latest ten %d", n, first, latest)
	}
}
