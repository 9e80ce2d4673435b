package traffic

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"edgetable/core/edm"
)

// BenchmarkAdd measures the cost of counting a request.
func BenchmarkAdd(b *testing.B) {
	for _, partitions := range []int{1, 200, 100_000} {
		b.Run(fmt.Sprint("partitions=", partitions), func(b *testing.B) {
			c := at(1000 * day)
			r := rand.New(rand.NewPCG(1, 2))
			list := make([]*Visit, 1<<16)
			for i := range list {
				list[i] = get("People", fmt.Sprintf("customer-%06d", r.IntN(partitions)))
			}
			for i, v := range list {
				if c.Add(v); i%1000 == 0 {
					c.Tick(1000*day + edm.Ticks(i)*edm.TicksPerSecond)
				}
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				c.Add(list[i&(1<<16-1)])
			}
		})
	}
}

// BenchmarkAddParallel measures the cost of counting requests on all processors concurrently.
func BenchmarkAddParallel(b *testing.B) {
	c := at(1000 * day)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		v := get("People", "customer-1")
		for pb.Next() {
			c.Add(v)
		}
	})
	c.Tick(1001 * day)
	s := c.Save()
	t := s.Tables[0].Report().Totals
	b.ReportMetric(100*float64(t.Missed)/float64(t.Missed+t.Reads), "%missed")
}
