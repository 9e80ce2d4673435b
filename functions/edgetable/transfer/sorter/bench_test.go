package sorter

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"edgetable/core/edm"
	"edgetable/functions/edgetable/transfer/rows"
)

// BenchmarkSorter sorts 100,000 shuffled rows of 1 KiB, for which the sorter writes four files.
func BenchmarkSorter(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 4096)
	for i := range text {
		text[i] = byte('a' + r.IntN(26))
	}
	order := r.Perm(100_000)
	for b.Loop() {
		s := New(Memory)
		for _, i := range order {
			at := i * 37 % 3000
			if err := s.Add(rows.Row{PartitionKey: fmt.Sprintf("p%06d", i/100), RowKey: fmt.Sprintf("r%09d", i),
				Properties: edm.AppendProperty(nil, "Text", edm.String(string(text[at:at+1000])))}); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := s.Each(func(rows.Row) error { return nil }); err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
