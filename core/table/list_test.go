package table_test

import (
	"fmt"
	"slices"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/testdata/memstore"
)

// TestCostOfQueryTables checks the pages of a list of tables, and what each list costs: the store reads one record more than a
// page has, and at most two to find one name.
func TestCostOfQueryTables(t *testing.T) {
	t.Parallel()
	s := newService(t, table.Options{})
	for _, name := range []string{"Ada", "ada2", "Bea", "cleo", "Dora"} {
		if err := s.CreateTable(t.Context(), table.Name{Account: "a", Table: name}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		filter string
		top    int
		from   string
		names  []string
		next   string
		calls  int
		rows   int // 0 if the test does not count them
	}{
		{"", 0, "", nil, "", 0, 0},
		{"", 10, "", []string{"Ada", "ada2", "Bea", "cleo", "Dora"}, "", 1, 5},
		{"", 5, "", []string{"Ada", "ada2", "Bea", "cleo", "Dora"}, "", 1, 5},
		{"", 4, "", []string{"Ada", "ada2", "Bea", "cleo"}, "dora", 1, 5},
		{"", 2, "", []string{"Ada", "ada2"}, "bea", 1, 3},
		{"", 2, "bea", []string{"Bea", "cleo"}, "dora", 1, 3},
		{"", 2, "BEA", []string{"Bea", "cleo"}, "dora", 1, 3},
		{"", 2, "beb", []string{"cleo", "Dora"}, "", 1, 2},
		{"", 2, "e", nil, "", 1, 0},
		{"TableName eq 'ADA'", 10, "", []string{"Ada"}, "", 1, 2},
		{"TableName eq 'ADA'", 1, "", []string{"Ada"}, "", 1, 2},
		{"TableName eq 'Adb'", 10, "", nil, "", 1, 2},
		{"TableName ge 'ada' and TableName lt 'b'", 10, "", []string{"Ada", "ada2"}, "", 1, 0},
		{"TableName gt 'ada' and TableName lt 'cleo'", 1, "", []string{"ada2"}, "bea", 1, 2},
		{"TableName eq 'dora' or TableName eq 'bea'", 10, "", []string{"Bea", "Dora"}, "", 2, 3},
		{"TableName eq 'dora' or TableName eq 'bea'", 1, "", []string{"Bea"}, "dora", 2, 3},
		{"Other eq 'x'", 1, "", nil, "", 1, 5}, // a filter may need all tables, so the store reads many at once
		{"TableName ne 'ada2'", 2, "", []string{"Ada", "Bea"}, "cleo", 2, 0},
	} {
		what := fmt.Sprintf("%d from %q with filter %q", tt.top, tt.from, tt.filter)
		q := table.TableQuery{Top: tt.top, From: tt.from}
		if tt.filter != "" {
			var err error
			if q.Filter, err = table.ParseTableFilter(tt.filter); err != nil {
				t.Fatal(err)
			}
		}
		var c table.Cost
		m := s.Metered(&c)
		page, err := m.QueryTables(t.Context(), "a", q)
		if err != nil || !slices.Equal(page.Names, tt.names) || page.Next != tt.next {
			t.Errorf("%s: %v, next %q, %v, want %v, next %q", what, page.Names, page.Next, err, tt.names, tt.next)
		}
		if page.Examined < len(page.Names) || page.Examined > c.ScannedRows {
			t.Errorf("%s: %d tables examined", what, page.Examined)
		}
		if c.Calls != tt.calls || tt.rows > 0 && c.ScannedRows != tt.rows {
			t.Errorf("%s: %d calls, %d records, want %d and %d", what, c.Calls, c.ScannedRows, tt.calls, tt.rows)
		}
	}
}

// TestQueryTablesInTime checks that a page of a list ends when its time is over, and that the next page continues.
func TestQueryTablesInTime(t *testing.T) {
	t.Parallel()
	instant := edm.Ticks(0)
	now := func() edm.Ticks { instant++; return instant }
	s := newServiceOver(t, memstore.New(now), now, table.Options{Budget: table.Budget{Time: 1}})
	filter, err := table.ParseTableFilter("TableName eq 'a01' or TableName eq 'a03' or TableName eq 'people'")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	q := table.TableQuery{Filter: filter, Top: 10}
	for pages := 1; ; pages++ {
		page, err := s.QueryTables(t.Context(), "acct", q)
		if err != nil || pages > 3 {
			t.Fatal(pages, err)
		}
		names = append(names, page.Names...)
		if q.From = page.Next; q.From == "" {
			if pages == 1 {
				t.Error("the list took one page, however long it lasted")
			}
			break
		}
	}
	if !slices.Equal(names, []string{"People"}) {
		t.Errorf("got %v", names)
	}
}

// TestQueryTablesAtTheDeadline checks that a list whose last range ends at its deadline, or later, needs no other page.
func TestQueryTablesAtTheDeadline(t *testing.T) {
	t.Parallel()
	for _, budget := range []edm.Ticks{1, 2} {
		instant := edm.Ticks(0)
		now := func() edm.Ticks { instant++; return instant }
		s := newServiceOver(t, memstore.New(now), now, table.Options{Budget: table.Budget{Time: budget}})
		filter, err := table.ParseTableFilter("TableName eq 'a01' or TableName eq 'people'")
		if err != nil {
			t.Fatal(err)
		}
		page, err := s.QueryTables(t.Context(), "acct", table.TableQuery{Filter: filter, Top: 10})
		if err != nil || page.Next != "" || !slices.Equal(page.Names, []string{"People"}) {
			t.Errorf("%v, next %q, %v", page.Names, page.Next, err)
		}
	}
}
