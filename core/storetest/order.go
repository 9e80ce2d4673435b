package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/table"
)

// Order checks scans in descending order, and scans that return only the number of entities.
func Order(t *testing.T, h Harness) {
	run(t, h, []law{
		{"Descending", descending},
		{"DescendingPages", descendingPages},
		{"DescendingPaging", descendingUnderWrites},
		{"Turn", turning},
		{"Latest", checkLatestRows},
		{"Count", counted},
	})
}

// descends reports whether the store can read in descending order. It fails the test if a store that does not declare
// Descending does not answer [table.ErrUnsupported].
func (e *env) descends(name table.RecordKey) bool {
	e.Helper()
	if e.Strengths.Descending {
		return true
	}
	page, err := e.Store.Scan(e.Context(), name, table.ScanRequest{Ranges: []key.Range{{}}, Descending: true})
	if !errors.Is(err, table.ErrUnsupported) {
		e.Errorf("a store that does not declare Descending: %d rows, %v, want ErrUnsupported", len(page.Rows), err)
	}
	return false
}

func backward(list []string) []string {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

// descending checks, for many ranges and filters, that a descending Scan returns the same rows as an ascending Scan in
// reverse order.
func descending(e *env) {
	name, grid := e.grid("descending", 5, 20, 10)
	e.fill(name, []table.Mutation{put("", "", "1"), put("\U0001F600", "\uff01", "n"), put("\uff01", "\U0001F600", "n"), put("p0", "r", "n")})
	if !e.descends(name) {
		return
	}
	rnd := rand.New(rand.NewPCG(8, 1))
	for i, text := range []string{
		"", "PartitionKey eq 'p02'", "PartitionKey gt 'p02'", "PartitionKey lt 'p02'", "PartitionKey ne 'p02'", "n ge 30 and n lt 61",
		"PartitionKey eq 'p01' and RowKey ge 'r003' and RowKey lt 'r005'", "PartitionKey eq 'p01' and RowKey eq 'r003'",
		"startswith(PartitionKey,'p0') and n ne 50", "PartitionKey eq 'p03' and startswith(RowKey,'r01')", "not startswith(PartitionKey,'p01')",
		"PartitionKey eq 'p01' and (RowKey eq 'r003' or RowKey eq 'r007' or RowKey eq 'none')",
		"PartitionKey eq 'p00' or PartitionKey eq 'p03' or PartitionKey ge 'p04' and n gt 90", "PartitionKey ge '\U0001F600'", "PartitionKey gt 'q'",
	} {
		filter, err := odata.ParseExtended(text)
		if err != nil {
			e.Fatalf("%s: %v", text, err)
		}
		plan := odata.MakePlan(filter)
		r := table.ScanRequest{Ranges: plan.Ranges, Filter: plan.Residual}
		want := backward(keys(slices.Concat(e.pages(name, r, nil)...)))
		r.Descending = true
		e.sameKeys(text+", newest first", keys(slices.Concat(e.pages(name, r, nil)...)), want)
		if e.Remote && i%3 != 0 {
			continue
		}
		r.Rows, r.ScanBytes = 1+rnd.IntN(4), 300
		e.sameKeys(text+", newest first in short pages", keys(slices.Concat(e.pages(name, r, nil)...)), want)
	}
	// Each range contains only one key. Every second range contains no entity.
	var points []key.Range
	for _, k := range grid[:60] {
		points = append(points, key.Range{Start: []byte(k), End: []byte(k + "\x01")}, key.Range{Start: []byte(k + "+"), End: []byte(k + "+\x01")})
	}
	for _, rows := range []int{0, 1, 7, 1000} {
		r := table.ScanRequest{Ranges: points, Rows: rows, Descending: true}
		e.sameKeys(fmt.Sprintf("points, %d a page", rows), keys(slices.Concat(e.pages(name, r, nil)...)), backward(grid[:60]))
	}
}

// descendingPages checks that all limits of a page apply to a descending scan, and that the scan skips or
// repeats no row.
func descendingPages(e *env) {
	rows := e.repetitions(50, 15)
	name, want := e.grid("budgets", 4, rows, 100)
	if !e.descends(name) {
		return
	}
	ranges := []key.Range{{End: at("p01", fmt.Sprintf("r%03d", rows*4/5))}, {Start: at("p02", fmt.Sprintf("r%03d", rows/5))}}
	want = backward(slices.DeleteFunc(want, func(k string) bool {
		return !ranges[0].Contains([]byte(k)) && !ranges[1].Contains([]byte(k))
	}))
	for _, r := range []table.ScanRequest{
		{Rows: 1}, {Rows: 7}, {Rows: len(want)}, {Rows: len(want) - 1}, {Rows: 1000},
		{Bytes: 1}, {Bytes: 1000}, {Rows: 3, Bytes: 1000},
		{ScanBytes: 1000, Rows: 5}, {ScanBytes: 1, Rows: 1, Bytes: 1},
		{Expired: func() bool { return true }}, {Expired: func() bool { return false }, Rows: 11},
	} {
		r.Ranges, r.Descending = ranges, true
		what := fmt.Sprintf("Rows %d, Bytes %d, ScanBytes %d", r.Rows, r.Bytes, r.ScanBytes)
		pages := e.pages(name, r, nil)
		e.sameKeys(what, keys(slices.Concat(pages...)), want)
		if full := r.Bytes == 0 && r.ScanBytes == 0 && r.Rows > 0; full && len(pages[0]) != min(r.Rows, len(want)) {
			e.Errorf("%s: without another budget a page holds what there is: %d rows of %d", what, len(pages[0]), len(want))
		}
	}
	if pages := e.pages(e.create("empty"), table.ScanRequest{Ranges: ranges, Rows: 10, Descending: true}, nil); len(slices.Concat(pages...)) != 0 {
		e.Errorf("Scan of an empty table: got %d rows", len(slices.Concat(pages...)))
	}
}

// descendingUnderWrites is like pagingUnderWrites for a descending scan.
func descendingUnderWrites(e *env) {
	name, want := e.grid("paging", 6, 20, 20)
	if !e.descends(name) {
		return
	}
	for seed := range uint64(e.repetitions(4, 2)) {
		rnd := rand.New(rand.NewPCG(seed, 4))
		others := make(map[string]bool)
		r := table.ScanRequest{Ranges: []key.Range{{}}, Rows: 1 + rnd.IntN(9), Descending: true}
		if seed%2 == 1 {
			r.ScanBytes = 1 + rnd.IntN(500)
		}
		rows := slices.Concat(e.pages(name, r, func(next []byte) {
			p, row := key.Split(bytes.TrimRight(next, "\x00\x01"))
			for _, k := range [][]byte{
				at(fmt.Sprintf("p%02d", rnd.IntN(7)), fmt.Sprintf("r%03d+", rnd.IntN(20))),
				at(string(p), string(row[:min(4, len(row))])+"+"),
			} {
				m := table.Mutation{Key: k, Nonce: 1, Properties: text("other")}
				if others[string(k)] {
					m = table.Mutation{Key: k, Kind: table.Delete, Condition: table.Present}
				}
				if _, err := e.commit(name, m); err == nil {
					others[string(k)] = m.Kind == table.Put
				} else if !e.lacksStrength(err, []table.Mutation{m}) {
					e.Fatalf("Commit(%s): %s", describe([]table.Mutation{m}), reason(err))
				}
			}
		})...)
		stable := slices.DeleteFunc(keys(rows), func(k string) bool { return bytes.HasSuffix([]byte(k), []byte("+")) })
		e.sameKeys(fmt.Sprintf("seed %d: rows that exist throughout", seed), stable, backward(want))
		for k, there := range others {
			if there {
				if _, err := e.commit(name, table.Mutation{Key: []byte(k), Kind: table.Delete, Condition: table.Present}); err != nil {
					e.Fatalf("delete %s: %s", showKey([]byte(k)), reason(err))
				}
			}
		}
	}
}

// turning reads one page in descending order, and then the remaining ranges in ascending order. Both scans together
// must return each row once.
func turning(e *env) {
	name, grid := e.grid("turn", 3, 30, 10)
	if !e.descends(name) {
		return
	}
	for _, rows := range []int{1, 29, 30, 31, 45} {
		r := table.ScanRequest{Ranges: []key.Range{{}}, Rows: rows, Descending: true}
		page, err := e.Store.Scan(e.Context(), name, r)
		if err != nil || page.Next == nil {
			e.Fatalf("%d rows: Next %q, %v", rows, page.Next, err)
		}
		rest := e.pages(name, table.ScanRequest{Ranges: r.Rest(page.Next), Rows: 20}, nil)
		got := slices.Concat(keys(slices.Concat(rest...)), backward(keys(page.Rows)))
		e.sameKeys(fmt.Sprintf("the latest %d after the others", rows), got, grid)
	}
}

// checkLatestRows checks that reading the last ten rows of a partition costs about as much as reading the
// first ten, however large the partition is.
func checkLatestRows(e *env) {
	n := e.repetitions(2000, 400)
	name, _ := e.grid("latest", 1, n, 100)
	if !e.descends(name) {
		return
	}
	ranges := []key.Range{{Start: key.PartitionFrom("p00"), End: key.PartitionAfter("p00")}}
	cost := func(descending bool) (int, int) {
		page, err := e.Store.Scan(e.Context(), name, table.ScanRequest{Ranges: ranges, Rows: 10, Descending: descending})
		if err != nil || len(page.Rows) != 10 {
			e.Fatalf("%d rows, %v", len(page.Rows), err)
		}
		return page.Examined, page.Scanned
	}
	first, firstBytes := cost(false)
	last, lastBytes := cost(true)
	if last > first || lastBytes > firstBytes+firstBytes/2 {
		e.Errorf("of %d rows the latest ten took %d rows and %d bytes, the first ten %d and %d", n, last, lastBytes, first, firstBytes)
	}
}

// counted checks a scan with the option Count. The sum over its pages must equal the number of rows that the same scan
// without Count returns.
func counted(e *env) {
	name, grid := e.grid("count", 4, 25, 50)
	for _, text := range []string{"", "n ge 10 and n lt 37", "n lt 0", "PartitionKey eq 'p01'", "PartitionKey ge 'p01' and n ne 50", "PartitionKey eq 'p02' and RowKey eq 'r003'"} {
		filter, err := odata.Parse(text)
		if err != nil {
			e.Fatalf("%s: %v", text, err)
		}
		want := 0
		for _, row := range e.all(name) {
			if filter.Match(row.Key, row.Timestamp, row.Properties) {
				want++
			}
		}
		plan := odata.MakePlan(filter)
		for _, scanBytes := range []int{0, 500} {
			r := table.ScanRequest{Ranges: plan.Ranges, Filter: plan.Residual, ScanBytes: scanBytes, Count: true}
			got, pages := 0, 0
			for ; len(r.Ranges) > 0; pages++ {
				page, err := e.Store.Scan(e.Context(), name, r)
				if err != nil {
					e.Fatal(reason(err))
				}
				if len(page.Rows) > 0 {
					e.Errorf("%q: a page that counts has %d rows", text, len(page.Rows))
				}
				if got += page.Count; page.Next == nil {
					break
				}
				if bytes.Compare(page.Next, r.Ranges[0].Start) <= 0 {
					e.Fatalf("%q: Next %q does not move on from %q", text, page.Next, r.Ranges[0].Start)
				}
				r.Ranges = r.Rest(page.Next)
			}
			if got != want || scanBytes == 0 && pages > 0 && text == "" && e.Strengths.SnapshotPage || scanBytes > 0 && text == "" && pages == 0 {
				e.Errorf("%q, ScanBytes %d: counted %d of %d in %d pages after the first, want %d", text, scanBytes, got, len(grid), pages, want)
			}
		}
	}
}
