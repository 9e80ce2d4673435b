package durableobject_test

import (
	"fmt"
	"strings"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/table"
)

// TestFilters checks that objects evaluate filters up to the limits of a filter.
func TestFilters(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ why, filter string }{
		{"short", "v eq 'row 3'"},
		{"quotes", "v ne 'it''s' and v eq 'row 3'"},
		{"text of any kind", "v ne '\u00e4\u4e16\U0001F600\x01' and not (v ne 'row 3')"},
		{"many comparisons", strings.Repeat("x eq X'"+strings.Repeat("00", 26)+"' or ", 490) + "v eq 'row 3'"},
		{"deep", strings.Repeat("not (v ne 'row 3' or v ne 'row 2' and ", odata.MaxDepth) + "v eq 'row 3'" + strings.Repeat(")", odata.MaxDepth)},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			f, err := odata.Parse(row.filter)
			if err != nil {
				t.Fatal(err)
			}
			for _, buckets := range []uint16{1, 3} {
				c := newCloud(t, newClock().now)
				s := c.store(c.now, func(o *durableobject.Options) { o.Buckets = buckets })
				create(t, s, 1)
				for i := range 10 {
					m := put("r", fmt.Sprint("row ", i))
					m.Key = at(fmt.Sprint("p", i), "r")
					if _, err := s.Commit(t.Context(), tableKey, []table.Mutation{m}); err != nil {
						t.Fatal(err)
					}
				}
				calls := 0
				c.network = func(durableobject.Call) fate { calls++; return fate{} }
				page, err := s.Scan(t.Context(), tableKey, table.ScanRequest{Ranges: []key.Range{{}}, Filter: f, Rows: 5})
				if buckets == 1 && calls != 1 {
					t.Errorf("a page of one bucket took %d messages", calls)
				}
				if err != nil || len(page.Rows) != 1 || string(page.Rows[0].Key) != string(at("p3", "r")) || page.Next != nil {
					t.Errorf("%d buckets: %d rows, next %q, %v", buckets, len(page.Rows), page.Next, err)
				}
			}
		})
	}
}

// TestLongScan checks that a page without limits ends before it occupies the object for long, and that
// the scan continues after that page.
func TestLongScan(t *testing.T) {
	t.Parallel()
	c := newCloud(t, newClock().now)
	s := c.store(c.now, nil)
	create(t, s, 1)
	const rows, size = 200, 64_000
	for i := range rows {
		m := table.Mutation{Key: at("p", fmt.Sprintf("%03d", i)), Properties: edm.AppendProperty(nil, "v", edm.Binary(make([]byte, size)))}
		if _, err := s.Commit(t.Context(), tableKey, []table.Mutation{m}); err != nil {
			t.Fatal(err)
		}
	}
	r := everything
	pages, got := 0, 0
	for len(r.Ranges) > 0 {
		page, err := s.Scan(t.Context(), tableKey, r)
		if err != nil {
			t.Fatal(err)
		}
		if page.Scanned > 8<<20+2*size {
			t.Errorf("a page examined %d bytes", page.Scanned)
		}
		for _, row := range page.Rows {
			if want := at("p", fmt.Sprintf("%03d", got)); string(row.Key) != string(want) {
				t.Fatalf("row %d is %q, want %q", got, row.Key, want)
			}
			got++
		}
		pages++
		if page.Next == nil {
			break
		}
		r.Ranges = key.From(everything.Ranges, page.Next)
	}
	if pages != 2 || got != rows {
		t.Errorf("%d rows in %d pages, want %d in 2", got, pages, rows)
	}
}
