package storetest

import (
	"fmt"
	"slices"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/table"
)

// filters checks that a Scan with a filter returns exactly the rows that Filter.Match accepts, for all limits of a
// page. It also checks that "a page may be empty and have a Next".
func filters(e *env) {
	name, _ := e.grid("filters", 4, 25, 50)
	e.fill(name, []table.Mutation{
		{Key: at("p01", "r010+"), Properties: extremes(), Nonce: 1},
		put("p01", "r011+", "true"), put("", "", "1"), put("\U0001F600", "\uff01", "n"),
	})
	everything := e.all(name)
	middle := everything[len(everything)/2].Timestamp
	for i, text := range []string{
		"n ge 10 and n lt 13",
		"n lt 0",
		"not (n ge 0)",
		"v eq 'true' or v eq '1'",
		"PartitionKey eq 'p01' and RowKey gt 'r010' and n lt 37",
		"PartitionKey eq 'p01' and n ne 30",
		"PartitionKey gt 'p02' and n gt 90",
		"PartitionKey ge '\U0001F600'",
		"(PartitionKey eq 'p00' and RowKey eq 'r001') or (PartitionKey eq 'p03' and RowKey eq 'r002')",
		"PartitionKey eq '' and RowKey eq ''",
		"Timestamp gt " + odata.Literal(edm.DateTime(middle)),
		"Timestamp eq " + odata.Literal(edm.DateTime(middle)),
		"P00 eq '' and P22 lt 0 and P25 eq 0L",
	} {
		filter, err := odata.Parse(text)
		if err != nil {
			e.Fatalf("%s: %v", text, err)
		}
		want := []string{}
		for _, r := range everything {
			if filter.Match(r.Key, r.Timestamp, r.Properties) {
				want = append(want, string(r.Key))
			}
		}
		plan := odata.MakePlan(filter)
		for j, r := range []table.ScanRequest{
			{Ranges: []key.Range{{}}, Filter: filter},
			{Ranges: []key.Range{{}}, Filter: filter, Rows: 1},
			{Ranges: []key.Range{{}}, Filter: filter, ScanBytes: 200},
			{Ranges: []key.Range{{}}, Filter: filter, Rows: 2, Bytes: 150, Expired: func() bool { return true }},
			{Ranges: plan.Ranges, Filter: plan.Residual},
			{Ranges: plan.Ranges, Filter: plan.Residual, Rows: 3, ScanBytes: 300},
		} {
			if len(r.Ranges) == 0 {
				continue // no key can match the filter, so there is nothing to scan
			}
			if e.Remote && 1 <= j && j <= 3 && j != 1+i%3 {
				continue // on a remote store, only one of these page limits is tested for each filter
			}
			what := fmt.Sprintf("%s: %d ranges, Rows %d, ScanBytes %d", text, len(r.Ranges), r.Rows, r.ScanBytes)
			e.sameKeys(what, keys(slices.Concat(e.pages(name, r, nil)...)), want)
		}
	}
	// The limit ScanBytes also counts rows that the filter rejects.
	nothing, err := odata.Parse("n lt 0")
	if err != nil {
		e.Fatal(err)
	}
	table, _ := e.large()
	e.emptyPage(table, nothing)
}

func (e *env) emptyPage(name table.RecordKey, nothing *odata.Filter) {
	e.Helper()
	const budget = largeRows * largeRow / 16
	r := table.ScanRequest{Ranges: []key.Range{{}}, Filter: nothing, ScanBytes: budget}
	page, err := e.Store.Scan(e.Context(), name, r)
	if err != nil {
		e.Fatal(err)
	}
	if len(page.Rows) != 0 || page.Next == nil || page.Scanned > 4*budget || page.Examined == 0 {
		e.Errorf("a page may be empty and have a Next: %d rows, Next %q, %d bytes in %d entities examined with a budget of %d of %d",
			len(page.Rows), page.Next, page.Scanned, page.Examined, budget, largeRows*largeRow)
	}
}
