package buckets_test

import (
	"math/rand/v2"
	"testing"

	"edgetable/core/buckets"
	"edgetable/core/key"
	"edgetable/core/table"
)

// TestExactEnd checks that the page with the last row has no Next, even if the page is full. The difficult case is a
// read that ends exactly at the last row: a store that finds as many rows as requested does not know whether there
// are more.
func TestExactEnd(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(6, 6))
	for _, x := range []struct {
		why    string
		count  uint16
		length func() int
	}{
		{"a partition a row", 8, func() int { return 1 }},
		{"partitions of any length", 8, func() int { return 1 + rnd.IntN(90) }},
		{"one partition, other buckets are empty", 8, func() int { return 1 << 20 }},
		{"many buckets", 64, func() int { return 1 + rnd.IntN(4) }},
		{"one bucket", 1, func() int { return 1 + rnd.IntN(90) }},
	} {
		for _, rows := range []int{1, 2, 7, 100, 550} {
			for _, number := range []int{1, 2, 3} {
				s := newStore(x.count)
				fill(s, number*rows, x.length)
				last, _ := key.Decode(s.all[len(s.all)-1].Key)
				ranges := map[string]key.Range{"the table": {}, "all but its end": {End: key.PartitionAfter(last)}}
				if first, _ := key.Decode(s.all[0].Key); first == last {
					ranges["the partition"] = key.Range{Start: key.PartitionFrom(last), End: key.PartitionAfter(last)}
				}
				for what, r := range ranges {
					for _, fanOut := range []int{1, 8} {
						s.reads = nil
						got := pages(t, s, x.count, table.ScanRequest{Ranges: []key.Range{r}, Rows: rows}, buckets.Options{FanOut: fanOut}, nil)
						if len(got) != number || len(got[number-1]) != rows {
							t.Errorf("%s, %s: %d rows come in %d pages, the last of %d; want %d of %d", x.why, what, number*rows, len(got), len(got[len(got)-1]), number, rows)
						}
						if what == "the partition" && len(s.reads) != number {
							t.Errorf("%s: %d pages take %d reads", what, number, len(s.reads))
						}
					}
				}
			}
		}
	}
}

// TestExactEndFiltered checks a page that is followed only by rows that do not match the filter. If these rows were
// already read, the page must have no Next.
func TestExactEndFiltered(t *testing.T) {
	t.Parallel()
	s := newStore(8)
	fill(s, 200, func() int { return 200 })
	r := table.ScanRequest{Ranges: []key.Range{{}}, Filter: filter(t, "RowKey lt 'r000010'"), Rows: 10}
	if got := pages(t, s, 8, r, buckets.Options{FanOut: 8}, nil); len(got[0]) != 10 || len(got) > 2 {
		t.Errorf("10 of 200 rows match and come in %d pages, the first of %d", len(got), len(got[0]))
	}
	r.Ranges = []key.Range{{Start: key.PartitionFrom("p00000000"), End: key.PartitionAfter("p00000000")}}
	r.Filter = filter(t, "RowKey lt 'r000100'")
	r.Rows = 100
	if got := pages(t, s, 8, r, buckets.Options{}, nil); len(got) != 1 || len(got[0]) != 100 {
		t.Errorf("100 of 200 rows match and come in %d pages, the first of %d", len(got), len(got[0]))
	}
}
