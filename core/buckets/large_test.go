package buckets_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"edgetable/core/buckets"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// TestLargeRows checks how much memory a page of large rows from many buckets needs: at most the byte budget plus
// one row. It reads the whole table, many partitions, or many single entities.
func TestLargeRows(t *testing.T) {
	t.Parallel()
	const size, budget = 64 << 10, 2 << 20
	s := newStore(64)
	s.strict = true
	var points, partitions []key.Range
	for i := range 128 {
		p := fmt.Sprintf("%03d", i)
		partitions = append(partitions, key.Range{Start: key.PartitionFrom(p), End: key.PartitionAfter(p)})
		points = append(points, key.Range{Start: key.RowFrom(p, "r"), End: key.RowAfter(p, "r")})
		s.put(table.Row{Key: key.Append(nil, p, "r"), Properties: edm.AppendProperty(nil, "v", edm.Binary(make([]byte, size)))})
	}
	for what, ranges := range map[string][]key.Range{"all": {{}}, "partitions": partitions, "points": points} {
		for _, rows := range []int{1, 1000} {
			r := rand.New(rand.NewPCG(uint64(rows), 1))
			count := 0
			o := buckets.Options{FanOut: 1 + r.IntN(32), Report: func(c buckets.Cost) {
				count++
				if c.Bytes > budget+size+1000 {
					t.Errorf("%s, %d rows: a page read %d KiB", what, rows, c.Bytes>>10)
				}
				if c.Reads > 64+2*(c.Rows+1) {
					t.Errorf("%s, %d rows: a page of %d rows took %d reads", what, rows, c.Rows, c.Reads)
				}
			}}
			got := keysOf(pages(t, s, 64, table.ScanRequest{Ranges: ranges, Rows: rows, ScanBytes: budget}, o, nil)...)
			if !slices.Equal(got, keysOf(s.all)) {
				t.Errorf("%s, %d rows: got %d of %d", what, rows, len(got), len(s.all))
			}
			if rows > 1 && count > 128*size/(budget/2) {
				t.Errorf("%s: %d pages", what, count)
			}
			// With the smallest budget, a page has one row. It is read in the first wave, or, if it may be in any bucket, in the
			// second.
			o.Report = func(c buckets.Cost) {
				if c.Bytes > size+1000 || c.Waves > 2 || c.Waves > 1 && what != "all" {
					t.Errorf("%s, %d rows, the smallest budget: a page read %d KiB in %d waves", what, rows, c.Bytes>>10, c.Waves)
				}
			}
			if got := keysOf(pages(t, s, 64, table.ScanRequest{Ranges: ranges, Rows: rows, ScanBytes: 1}, o, nil)...); !slices.Equal(got, keysOf(s.all)) {
				t.Errorf("%s, %d rows, the smallest budget: got %d of %d", what, rows, len(got), len(s.all))
			}
		}
	}
}
