package table_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/odata"
	"edgetable/core/table"
)

// build fills a page from rows of 100 bytes with the keys "0", "1" and so on. Each row has a property N, which is
// the last digit of the key. build returns as text: the value N of each row of the page, the page's Next, and the
// number of bytes examined.
func build(t *testing.T, r table.ScanRequest, eager bool, rows int) string {
	t.Helper()
	b := table.NewPageBuilder(&r)
	b.Eager = eager
	page := ""
	for i := range rows {
		row := sizedRow(i, 100)
		switch verdict, err := b.Examine(t.Context(), &row); {
		case err != nil:
			t.Fatal(err)
		case verdict == table.Take:
			page += fmt.Sprint(i%10, " ")
		case verdict == table.End:
			return fmt.Sprintf("%snext %s, %d", page, b.Page.Next, scanned(t, &b.Page))
		}
	}
	return fmt.Sprintf("%send, %d", page, scanned(t, &b.Page))
}

// sizedRow returns a row of 100 or 8192 bytes. Its key is i as text, and its property N is the last digit of i.
func sizedRow(i, size int) table.Row {
	row := table.Row{Key: fmt.Append(nil, i), Properties: edm.AppendProperty(nil, "N", edm.Int32(int32(i%10)))}
	used := len(row.Key) + len(edm.AppendProperty(row.Properties, "P", edm.Binary(make([]byte, size)))) - size
	row.Properties = edm.AppendProperty(row.Properties, "P", edm.Binary(make([]byte, size-used)))
	return row
}

// scanned returns the number of bytes that the page examined. It checks that this is 100 for each row.
func scanned(t *testing.T, p *table.Page) int {
	if p.Examined*100 != p.Scanned {
		t.Errorf("%d bytes of %d rows were examined", p.Scanned, p.Examined)
	}
	return p.Scanned
}

func TestPageBuilder(t *testing.T) {
	t.Parallel()
	three, err := odata.Parse("N eq 3")
	if err != nil {
		t.Fatal(err)
	}
	always := func() bool { return true }
	for _, tt := range []struct {
		why   string
		r     table.ScanRequest
		eager bool
		rows  int
		want  string
	}{
		{"no limit", table.ScanRequest{}, false, 3, "0 1 2 end, 300"},
		{"rows", table.ScanRequest{Rows: 2}, false, 3, "0 1 next 2, 200"},
		{"exactly all rows", table.ScanRequest{Rows: 3}, false, 3, "0 1 2 end, 300"},
		{"rows that pass a filter", table.ScanRequest{Rows: 1, Filter: three}, false, 30, "3 next 4, 400"},
		{"rows at hand that do not pass", table.ScanRequest{Rows: 1, Filter: three}, true, 30, "3 next 13, 1300"},
		{"rows at hand to the end", table.ScanRequest{Rows: 1, Filter: three}, true, 12, "3 end, 1200"},
		{"bytes", table.ScanRequest{Bytes: 250}, false, 4, "0 1 next 2, 200"},
		{"exactly the bytes of two rows", table.ScanRequest{Bytes: 200}, false, 4, "0 1 next 2, 200"},
		{"exactly the bytes examined", table.ScanRequest{ScanBytes: 200, Filter: three}, false, 5, "next 2, 200"},
		{"a first row beyond the bytes", table.ScanRequest{Bytes: 1}, false, 4, "0 next 1, 100"},
		{"bytes of rows that pass", table.ScanRequest{Bytes: 100, Filter: three}, false, 20, "3 next 13, 1300"},
		{"bytes examined", table.ScanRequest{ScanBytes: 201, Filter: three}, false, 5, "next 3, 300"},
		{"a first row beyond the bytes examined", table.ScanRequest{ScanBytes: 1}, false, 5, "0 next 1, 100"},
		{"a deadline long past", table.ScanRequest{Expired: always}, false, 5, "0 next 1, 100"},
	} {
		if got := build(t, tt.r, tt.eager, tt.rows); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.why, got, tt.want)
		}
	}
}

// TestPageBuilderDeadline checks that a PageBuilder checks the deadline and the context before the second row, and
// then once per 64 KiB.
func TestPageBuilderDeadline(t *testing.T) {
	t.Parallel()
	asked := 0
	got := build(t, table.ScanRequest{Expired: func() bool { asked++; return false }, ScanBytes: 200_000}, false, 10_000)
	if want := 1 + 200_000/(64<<10); asked != want {
		t.Errorf("the deadline was checked %d times, want %d: %s", asked, want, got[len(got)-20:])
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := table.NewPageBuilder(&table.ScanRequest{})
	for i, want := range []error{nil, context.Canceled} {
		if _, err := b.Examine(ctx, &table.Row{Key: []byte("k")}); !errors.Is(err, want) {
			t.Errorf("row %d under a cancelled context: got %v, want %v", i, err, want)
		}
	}
}
