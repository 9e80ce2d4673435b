package buckets_test

import (
	"context"
	"fmt"
	"testing"

	"edgetable/core/buckets"
	"edgetable/core/key"
	"edgetable/core/table"
)

// given is a Source that returns rows from memory at no cost.
type given struct{ buckets []rows }

func (g given) Read(_ context.Context, b uint16, r key.Range, l buckets.Limit) (buckets.Chunk, error) {
	there := g.buckets[b].in(r)
	if len(there) <= l.Rows {
		return buckets.Chunk{Rows: there, Scanned: len(there) << 10}, nil
	}
	return buckets.Chunk{Rows: there[:l.Rows], Next: there[l.Rows].Key, Scanned: l.Rows << 10}, nil
}

// BenchmarkScan measures the CPU time of a page of 1000 rows, in ns/row. Reads cost nothing, because the Source is
// in memory.
func BenchmarkScan(b *testing.B) {
	for _, count := range []uint16{1, 8, 64} {
		for _, length := range []int{1, 47, 4000} {
			b.Run(fmt.Sprintf("buckets=%d/partition=%d", count, length), func(b *testing.B) {
				s := newStore(count)
				fill(s, 10_000, func() int { return length })
				src := given{s.buckets}
				r := table.ScanRequest{Ranges: []key.Range{{}}, Rows: 1000, Expired: func() bool { return false }}
				b.ReportAllocs()
				for b.Loop() {
					page, err := buckets.Scan(b.Context(), src, count, r, buckets.Options{})
					if err != nil || len(page.Rows) != 1000 {
						b.Fatal(len(page.Rows), err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/row")
			})
		}
	}
}

func BenchmarkOf(b *testing.B) {
	p := []byte("customer-00000042")
	for b.Loop() {
		buckets.Of(p, 8)
	}
}
