package table_test

import (
	"fmt"
	"testing"

	"edgetable/core/key"
	"edgetable/core/table"
)

// TestScanOrder checks in which order a scan reads its ranges, where a page that ends before the key n continues, and
// which ranges remain then. The request and the key do not change.
func TestScanOrder(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		descending          bool
		order, next, remain string
	}{
		{false, "[b-d m-p]", "n", "[n-p]"},
		{true, "[m-p b-d]", "n\x00", "[b-d m-n\x00]"},
	} {
		r := table.ScanRequest{Descending: tt.descending, Ranges: []key.Range{
			{Start: []byte("b"), End: []byte("d")}, {Start: []byte("m"), End: []byte("p")},
		}}
		if got := spans(r.InOrder()); got != tt.order {
			t.Errorf("descending %t: the ranges are read as %q, want %q", tt.descending, got, tt.order)
		}
		k := []byte("n")
		next := r.Continue(k)
		k[0] = 'x'
		if string(next) != tt.next {
			t.Errorf("descending %t: the next page begins at %q, want %q", tt.descending, next, tt.next)
		}
		if got := spans(r.Rest(next)); got != tt.remain {
			t.Errorf("descending %t: the ranges %q remain, want %q", tt.descending, got, tt.remain)
		}
		if got := spans(r.Ranges); got != "[b-d m-p]" {
			t.Errorf("descending %t: the request now has the ranges %q", tt.descending, got)
		}
	}
}

// spans returns ranges as text.
func spans(ranges []key.Range) string {
	var list []string
	for _, r := range ranges {
		list = append(list, fmt.Sprintf("%s-%s", r.Start, r.End))
	}
	return fmt.Sprint(list)
}
