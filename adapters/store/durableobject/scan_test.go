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

// TestFilters checks filters, which travel to the object as text. If the canonical
// text is longer than the original and too long for the object, the Worker
// evaluates the filter.
func TestFilters(t *testing.T) {
	t.Parallel()
	terms := func(n int, term, last string) string { return strings.Repeat(term+" or ", n) + last }
	for _, row := range []struct{ why, filter string }{
		{"short", "v eq 'row 3'"},
		{"quotes", "v ne 'it''s' and v eq 'row 3'"},
		{"text of any kind", "v ne '\u00e4\u4e16\U0001F600\x01' and not (v ne 'row 3')"},
		{"longer as text than it may be", terms(490, "x eq X'"+strings.Repeat("00", 26)+"'", "v eq 'row 3'")},
		{"deeper as text than it may be", strings.Repeat("not ", 200) + "v eq 'row 3'"},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			f, err := odata.Parse(row.filter)
			if err != nil {
				t.Fatal(err)
			}
			if row.why != "deeper as text than it may be" && (len(f.String()) > odata.MaxLength) != strings.Contains(row.why, "longer") {
				t.Fatalf("the filter has %d bytes as text", len(f.String()))
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
				page, err := s.Scan(t.Context(), tableKey, table.ScanRequest{Ranges: []key.Range{{}}, Filter: f, Rows: 5})
				calls := 0
				c.network = func(durableobject.Call) fate { calls++; return fate{} }
				if _, err := s.Scan(t.Context(), tableKey, table.ScanRequest{Ranges: []key.Range{{}}, Filter: f}); err != nil || buckets == 1 && calls > 2 {
					t.Errorf("a page of one bucket took %d messages, %v", calls, err)
				}
				if err != nil || len(page.Rows) != 1 || string(page.Rows[0].Key) != string(at("p3", "r")) || page.Next != nil {
					t.Errorf("%d buckets: %d rows, next %q, %v", buckets, len(page.Rows), page.Next, err)
				}
			}
		})
	}
}

// TestLimitsOfFilters checks that a Worker that evaluates the filter keeps the
// limits of the page.
func TestLimitsOfFilters(t *testing.T) {
	t.Parallel()
	f, err := odata.Parse(strings.Repeat("not ", 200) + "v eq 'x'")
	if err != nil {
		t.Fatal(err)
	}
	c := newCloud(t, newClock().now)
	s := c.store(c.now, nil)
	create(t, s, 1)
	want := 0
	for i := range 100 {
		if i%3 == 0 {
			want++
		}
		if _, err := s.Commit(t.Context(), tableKey, []table.Mutation{put(fmt.Sprintf("%03d", i), map[bool]string{true: "x", false: "y"}[i%3 == 0])}); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range []table.ScanRequest{{Rows: 7}, {Bytes: 50}, {ScanBytes: 100}, {Expired: func() bool { return true }}} {
		got := 0
		r.Filter, r.Ranges = f, []key.Range{{}}
		for pages := 0; len(r.Ranges) > 0; pages++ {
			page, err := s.Scan(t.Context(), tableKey, r)
			if err != nil || pages > 100 {
				t.Fatalf("page %d: %v", pages, err)
			}
			size := 0
			for _, row := range page.Rows {
				size += len(row.Key) + len(row.Properties)
			}
			if r.Rows > 0 && len(page.Rows) > r.Rows || r.Bytes > 0 && size > r.Bytes && len(page.Rows) > 1 {
				t.Errorf("a page of %d rows, %d bytes, of at most %d, %d", len(page.Rows), size, r.Rows, r.Bytes)
			}
			got += len(page.Rows)
			if page.Next == nil {
				break
			}
			r.Ranges = key.From([]key.Range{{}}, page.Next)
		}
		if got != want {
			t.Errorf("Rows %d, Bytes %d, ScanBytes %d: %d rows, want %d", r.Rows, r.Bytes, r.ScanBytes, got, want)
		}
	}
}

// TestLongScan checks that a page without limits ends before it occupies the
// object for long, and that the scan continues from there.
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
