package workerskv_test

import (
	"fmt"
	"testing"

	"edgetable/adapters/workerskv"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// However much there is in a journal, a write makes no more calls than an
// invocation has, and in the end all is where it belongs.
func TestLargeJournalIsTidiedInParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	s := w.isolate(steady(), workerskv.Options{SingleWriter: true, Memory: 64 << 20})
	w.create(s, 1)
	const batches, rows = 10, 100
	for i := range batches {
		m := make([]table.Mutation, rows)
		for j := range m {
			m[j] = number("p", fmt.Sprint(i, "-", j), 1)
			m[j].Properties = edm.AppendProperty(m[j].Properties, "b", edm.Binary(make([]byte, 5000)))
		}
		if _, err := s.Commit(t.Context(), tableName, m); err != nil {
			t.Fatal(err)
		}
	}
	name := func(i, j int) string {
		return workerskv.EntityName(1, key.Append(nil, "p", fmt.Sprint(i, "-", j)))
	}
	moved := func() (n int) {
		for i := range batches {
			for j := range rows {
				n += w.cloud.left(name(i, j))
			}
		}
		return n
	}
	for turn := 0; moved() < batches*rows; turn++ {
		w.settle()
		before := w.cloud.calls + w.cloud.gets + w.cloud.lists
		if _, err := s.Commit(t.Context(), tableName, []table.Mutation{number("p", "other", 1)}); err != nil {
			t.Fatal(err)
		}
		if calls := w.cloud.calls + w.cloud.gets + w.cloud.lists - before; calls > 500 {
			t.Fatalf("a write made %d calls", calls)
		}
		if turn > 100 {
			t.Fatalf("%d of %d are where they belong", moved(), batches*rows)
		}
	}
}
