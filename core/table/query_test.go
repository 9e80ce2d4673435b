package table_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/table"
	"edgetable/testdata/memstore"
)

func filter(t *testing.T, text string) *odata.Filter {
	t.Helper()
	f, err := odata.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func tableFilter(t *testing.T, text string) *odata.Filter {
	t.Helper()
	f, err := table.ParseTableFilter(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// fill inserts 10 partitions with 10 entities each. The property V is the number of the entity. The property S makes
// an entity about 1 KiB large.
func fill(t *testing.T, s *table.Service) {
	t.Helper()
	for p := range 10 {
		for r := range 10 {
			props := properties("V", r)
			props = edm.AppendProperty(props, "S", edm.String(strings.Repeat("s", 1000)))
			if _, err := s.Write(t.Context(), people, table.Operation{
				PartitionKey: fmt.Sprintf("p%d", p), RowKey: fmt.Sprintf("r%d", r), Properties: props,
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestQueryPages checks that the pages of a query together contain each entity once and in order, whichever limit
// ends a page.
func TestQueryPages(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		why    string
		filter string
		top    int
		budget table.Budget
		pages  int // the minimum number of pages
		rows   int
	}{
		{"everything in a page", "", 1000, table.Budget{}, 1, 100},
		{"rows", "", 7, table.Budget{}, 15, 100},
		{"exactly all rows", "", 100, table.Budget{}, 1, 100},
		{"bytes returned", "", 1000, table.Budget{Bytes: 5000}, 20, 100},
		{"fewer bytes than an entity has", "", 1000, table.Budget{Bytes: 1}, 100, 100},
		{"bytes examined", "", 1000, table.Budget{ScanBytes: 5000}, 17, 100},
		{"bytes examined for nothing", "V gt 99", 1000, table.Budget{ScanBytes: 5000}, 17, 0},
		{"time", "", 1000, table.Budget{Time: 1}, 2, 100},
		{"a residual filter and rows", "V eq 3", 3, table.Budget{}, 4, 10},
		{"a residual filter and bytes examined", "V eq 3", 3, table.Budget{ScanBytes: 3000}, 10, 10},
		{"a partition", "PartitionKey eq 'p4'", 3, table.Budget{}, 4, 10},
		{"two partitions apart", "PartitionKey eq 'p4' or PartitionKey eq 'p7'", 3, table.Budget{}, 7, 20},
		{"points", "PartitionKey eq 'p4' and (RowKey eq 'r1' or RowKey eq 'r5')", 1, table.Budget{}, 2, 2},
		{"a range of partitions", "PartitionKey ge 'p8'", 9, table.Budget{}, 3, 20},
		{"no partition", "PartitionKey gt 'z'", 9, table.Budget{}, 1, 0},
		{"what nothing can match", "PartitionKey lt 'a' and PartitionKey gt 'b'", 9, table.Budget{}, 1, 0},
	} {
		t.Run(tt.why, func(t *testing.T) {
			t.Parallel()
			now := edm.Ticks(0)
			clock := func() edm.Ticks { now++; return now } // the clock advances by one tick whenever it is read
			s := newServiceOver(t, memstore.New(clock), clock, table.Options{Budget: tt.budget})
			fill(t, s)
			q := table.Query{Top: tt.top}
			if tt.filter != "" {
				q.Filter = filter(t, tt.filter)
			}
			var keys []string
			pages := 0
			for {
				page, err := s.Query(t.Context(), people, q)
				if err != nil {
					t.Fatal(err)
				}
				if len(page.Rows) > tt.top {
					t.Fatalf("a page of %d", len(page.Rows))
				}
				for _, row := range page.Rows {
					keys = append(keys, string(row.Key))
				}
				if pages++; page.Next == nil {
					break
				}
				if pages > 1000 {
					t.Fatal("the pages do not end")
				}
				q.From = page.Next
			}
			if pages < tt.pages || len(keys) != tt.rows {
				t.Errorf("%d rows in %d pages, want %d in at least %d", len(keys), pages, tt.rows, tt.pages)
			}
			if !slices.IsSorted(keys) || len(slices.Compact(slices.Clone(keys))) != len(keys) {
				t.Error("out of order, or an entity twice")
			}
		})
	}
}

// TestQueryTime checks that a page may last exactly Budget.Time, and ends before its second row if it lasts longer.
func TestQueryTime(t *testing.T) {
	t.Parallel()
	for later, rows := range map[edm.Ticks]int{50: 100, 51: 1} {
		now := edm.Ticks(0)
		clock := func() edm.Ticks { // each time after the first one is later
			first := now
			now = later
			return first
		}
		s := newServiceOver(t, memstore.New(func() edm.Ticks { return 1000 }), clock, table.Options{Budget: table.Budget{Time: 50}})
		fill(t, s)
		now = 0
		page, err := s.Query(t.Context(), people, table.Query{Top: 1000})
		if err != nil || len(page.Rows) != rows {
			t.Errorf("a page that lasts %d ticks: %d rows, %v, want %d", later, len(page.Rows), err, rows)
		}
	}
}

// TestQueryTopZero checks that a query with Top 0 returns an empty page without a Next.
func TestQueryTopZero(t *testing.T) {
	t.Parallel()
	s := newService(t, table.Options{})
	fill(t, s)
	for _, f := range []*odata.Filter{nil, filter(t, "PartitionKey eq 'p1'"), filter(t, "V eq 1")} {
		page, err := s.Query(t.Context(), people, table.Query{Filter: f})
		if err != nil || len(page.Rows) != 0 || page.Next != nil {
			t.Errorf("%d rows, next %q, %v", len(page.Rows), page.Next, err)
		}
	}
	page, err := s.QueryTables(t.Context(), "acct", table.TableQuery{})
	if err != nil || len(page.Names) != 0 || page.Next != "" {
		t.Errorf("%d tables, next %q, %v", len(page.Names), page.Next, err)
	}
}

// TestQueryFrom checks that a query can start at any position: even if no entity has this key, and even if the
// position is outside the ranges of the filter.
func TestQueryFrom(t *testing.T) {
	t.Parallel()
	s := newService(t, table.Options{})
	fill(t, s)
	for _, tt := range []struct {
		why  string
		from []byte
		want int
	}{
		{"an entity", key.Append(nil, "p4", "r3"), 7},
		{"between two", key.Append(nil, "p4", "r3x"), 6},
		{"before the partition", key.Append(nil, "a", ""), 10},
		{"behind it", key.Append(nil, "p5", ""), 0},
		{"a partition without a row", []byte("p4"), 10},
		{"nothing", []byte{}, 10},
		{"no key at all", []byte{0xff, 0, 0, 0xff}, 0},
	} {
		page, err := s.Query(t.Context(), people, table.Query{Top: 1000, From: tt.from, Filter: filter(t, "PartitionKey eq 'p4'")})
		if err != nil || len(page.Rows) != tt.want || page.Next != nil {
			t.Errorf("%s: %d rows, next %q, %v, want %d", tt.why, len(page.Rows), page.Next, err, tt.want)
		}
	}
}

func TestQueryTables(t *testing.T) {
	t.Parallel()
	s := newService(t, table.Options{})
	for i := range 25 {
		name := fmt.Sprintf("T%02d", i)
		if i%2 == 1 {
			name = strings.ToLower(name)
		}
		for _, account := range []string{"acct", "acct2"} {
			if err := s.CreateTable(t.Context(), table.Name{Account: account, Table: name}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tt := range []struct {
		filter string
		top    int
		pages  int
		want   int
		first  string
	}{
		{"", 1000, 1, 26, "People"},
		{"", 26, 1, 26, "People"},
		{"", 5, 6, 26, "People"},
		{"TableName ge 't' and TableName lt 'U'", 1000, 1, 25, "T00"},
		{"TableName ge 'T'", 5, 5, 25, "T00"},
		{"TableName ge 'T1' and TableName lt 't1{'", 5, 2, 10, "T10"}, // the last page must have no Next, although it is full
		{"TableName ge 'T1' and TableName lt 't1{'", 4, 3, 10, "T10"},
		{"TableName eq 't04' or TableName eq 'T03' or TableName eq 't030'", 1, 2, 2, "t03"},
		{"TableName ne 'T03'", 5, 5, 25, "People"},
		{"TableName eq 'T03'", 1, 1, 1, "t03"},
		{"TableName eq 'T'", 1000, 1, 0, ""},
		{"TableName lt 'T01' and not (Other eq 'x')", 1, 2, 2, "People"},
		{"TableName ge 'people\x01' and TableName lt 't01é'", 1000, 1, 2, "T00"},
		{"Other eq 'x'", 1000, 1, 0, ""},
	} {
		q := table.TableQuery{Top: tt.top}
		if tt.filter != "" {
			q.Filter = tableFilter(t, tt.filter)
		}
		var names []string
		pages := 0
		for {
			page, err := s.QueryTables(t.Context(), "acct", q)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, page.Names...)
			if pages++; page.Next == "" {
				break
			}
			q.From = page.Next
		}
		first := ""
		if len(names) > 0 {
			first = names[0]
		}
		if pages != tt.pages || len(names) != tt.want || first != tt.first {
			t.Errorf("%q, top %d: %d tables in %d pages, first %q; want %d in %d, first %q", tt.filter, tt.top, len(names), pages, first, tt.want, tt.pages, tt.first)
		}
		if !slices.IsSortedFunc(names, func(a, b string) int { return strings.Compare(table.FoldName(a), table.FoldName(b)) }) {
			t.Errorf("%q: out of order: %v", tt.filter, names)
		}
	}
}

// TestQueryManyTables checks the pages of an account with more tables than one call of ListRecords returns.
func TestQueryManyTables(t *testing.T) {
	t.Parallel()
	s := newService(t, table.Options{})
	const many = table.MaxPageRows + 200
	for i := range many {
		if err := s.CreateTable(t.Context(), table.Name{Account: "many", Table: fmt.Sprintf("t%04d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	first, err := s.QueryTables(t.Context(), "many", table.TableQuery{Top: 1000})
	if err != nil || len(first.Names) != 1000 || first.Next != "t1000" {
		t.Fatalf("%d tables, next %q, %v", len(first.Names), first.Next, err)
	}
	second, err := s.QueryTables(t.Context(), "many", table.TableQuery{Top: 1000, From: first.Next})
	if err != nil || len(second.Names) != many-1000 || second.Next != "" {
		t.Fatalf("%d tables, next %q, %v", len(second.Names), second.Next, err)
	}
	last, err := s.QueryTables(t.Context(), "many", table.TableQuery{Top: 1000, Filter: tableFilter(t, "TableName ge 'T1100'")})
	if err != nil || len(last.Names) != 100 || last.Next != "" {
		t.Fatalf("%d tables, next %q, %v", len(last.Names), last.Next, err)
	}
	last, err = s.QueryTables(t.Context(), "many", table.TableQuery{Top: 1000, Filter: tableFilter(t, "TableName ge 'T1100' or Other eq 'x'")})
	if err != nil || len(last.Names) != 100 || last.Next != "" {
		t.Fatalf("behind a listing of no match: %d tables, next %q, %v", len(last.Names), last.Next, err)
	}
	last, err = s.QueryTables(t.Context(), "many", table.TableQuery{Top: 1000, Filter: tableFilter(t, "TableName ge 'T0999' or Other eq 'x'")})
	if err != nil || len(last.Names) != 201 || last.Next != "" {
		t.Fatalf("at the end of a listing: %d tables, next %q, %v", len(last.Names), last.Next, err)
	}
}
