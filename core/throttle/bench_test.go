package throttle_test

import (
	"fmt"
	"testing"

	"edgetable/core/throttle"
)

func BenchmarkTake(b *testing.B) {
	c := newClock()
	t := throttle.New(throttle.Options{Rate: 1e9, Burst: 1e9, Now: c.now})
	b.ReportAllocs()
	for b.Loop() {
		t.Take("devstoreaccount1", 1)
	}
}

func BenchmarkTakeParallel(b *testing.B) {
	c := newClock()
	t := throttle.New(throttle.Options{Rate: 1e9, Burst: 1e9, Now: c.now})
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			t.Take("devstoreaccount1", 1)
		}
	})
}

// BenchmarkTakeStrangers takes tokens of a new key each time, while all buckets in memory are in debt
// (have fewer than 0 tokens).
func BenchmarkTakeStrangers(b *testing.B) {
	c := newClock()
	t := throttle.New(throttle.Options{Rate: 1, Burst: 10, Now: c.now})
	keys := make([]string, 1<<18)
	for i := range keys {
		keys[i] = fmt.Sprint("stranger", i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		t.Take(keys[i%len(keys)], 20)
	}
}
