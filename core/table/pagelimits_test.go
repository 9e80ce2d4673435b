package table_test

import (
	"fmt"
	"testing"

	"edgetable/core/table"
)

// TestPageBuilderPause checks that a PageBuilder calls Pause before the second row, and then only before a row with
// which it would examine more than 64 KiB since the last call, also on a page that has all its rows and only looks for
// another match. If Pause returns true, the page ends before this row.
func TestPageBuilderPause(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		why string
		r   table.ScanRequest
	}{
		{"no limit", table.ScanRequest{}},
		{"all rows", table.ScanRequest{Rows: 1, Filter: filter(t, "N eq 3")}},
	} {
		b := table.NewPageBuilder(&tt.r)
		b.Eager = true
		asked := ""
		b.Pause = func(rows, size int) bool {
			asked += fmt.Sprintf("%d:%d ", rows, size>>13)
			return rows == 9
		}
		for i := 0; b.Page.Next == nil && i < 20; i++ {
			row := sizedRow(i, 1<<13)
			if _, err := b.Examine(t.Context(), &row); err != nil {
				t.Fatal(err)
			}
		}
		if want := "1:1 9:9 "; asked != want || string(b.Page.Next) != "9" {
			t.Errorf("%s: Pause was called after %s(rows:bytes/8192), want %s; the next page begins at %q, want 9", tt.why, asked, want, b.Page.Next)
		}
	}
}

// TestPageBuilderFull checks that a page is full when it has all its rows or has examined ScanBytes bytes, and that
// Size counts only the bytes of its rows.
func TestPageBuilderFull(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		why  string
		r    table.ScanRequest
		want string // before each row: whether the page is full, and its size
	}{
		{"no limit", table.ScanRequest{}, "false 0, false 100, false 200, false 300, "},
		{"rows", table.ScanRequest{Rows: 2}, "false 0, false 100, true 200, "},
		{"bytes examined", table.ScanRequest{ScanBytes: 200}, "false 0, false 100, true 200, "},
		{"rows that pass a filter", table.ScanRequest{Rows: 1, Filter: filter(t, "N eq 1")}, "false 0, false 0, true 100, "},
		{"bytes of rows that do not pass", table.ScanRequest{ScanBytes: 200, Filter: filter(t, "N eq 1")}, "false 0, false 0, true 100, "},
	} {
		b := table.NewPageBuilder(&tt.r)
		got := ""
		for i := range 4 {
			got += fmt.Sprintf("%t %d, ", b.Full(), b.Size())
			if b.Full() {
				break
			}
			row := sizedRow(i, 100)
			if _, err := b.Examine(t.Context(), &row); err != nil {
				t.Fatal(err)
			}
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.why, got, tt.want)
		}
	}
}

// TestPageBuilderSpentBefore checks that a page takes its first row even if its store has counted ScanBytes bytes for
// it before, so that every page makes progress.
func TestPageBuilderSpentBefore(t *testing.T) {
	t.Parallel()
	b := table.NewPageBuilder(&table.ScanRequest{ScanBytes: 100})
	b.Page.Scanned = 100
	for i, want := range []table.Verdict{table.Take, table.End} {
		if full := b.Full(); full != (want == table.End) {
			t.Errorf("before row %d: full: %t", i, full)
		}
		row := sizedRow(i, 100)
		if got, err := b.Examine(t.Context(), &row); err != nil || got != want {
			t.Errorf("row %d: verdict %d, %v, want %d", i, got, err, want)
		}
	}
}
