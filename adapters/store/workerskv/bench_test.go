package workerskv_test

import (
	"fmt"
	"testing"

	"edgetable/adapters/store/workerskv"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// BenchmarkPage reads a page of 1,000 small entities, which needs one list of KV.
func BenchmarkPage(b *testing.B) {
	w := newWorld(b, 1)
	w.cloud.stale, w.cloud.cursed = false, false
	now := steady()
	s := w.isolate(now, workerskv.Options{})
	w.create(s, 1)
	for i := range 1000 {
		m := number("p", fmt.Sprint(i), 1)
		m.Properties = edm.AppendProperty(m.Properties, "text", edm.String("some text of a usual length, as entities have it"))
		if _, err := s.Commit(b.Context(), tableName, []table.Mutation{m}); err != nil {
			b.Fatal(err)
		}
	}
	w.settle()
	b.ReportAllocs()
	for b.Loop() {
		page, err := s.Scan(b.Context(), tableName, table.ScanRequest{Ranges: []key.Range{partition("p")}, Rows: 1000})
		if err != nil || len(page.Rows) != 1000 {
			b.Fatal(len(page.Rows), err)
		}
	}
}
