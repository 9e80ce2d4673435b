package storetest

import (
	"fmt"
	"slices"

	"edgetable/core/key"
	"edgetable/core/table"
)

// rowsAndBytes checks that a scan skips or repeats no row, whatever its limits Rows and Bytes are. The method pages of env
// checks that each page keeps these limits.
func rowsAndBytes(e *env) {
	rows := e.repetitions(50, 15)
	name, want := e.grid("budgets", 4, rows, 100)
	ranges := []key.Range{{End: at("p01", fmt.Sprintf("r%03d", rows*4/5))}, {Start: at("p02", fmt.Sprintf("r%03d", rows/5))}}
	want = slices.DeleteFunc(want, func(k string) bool {
		return !ranges[0].Contains([]byte(k)) && !ranges[1].Contains([]byte(k))
	})
	for _, r := range []table.ScanRequest{
		{Rows: 1}, {Rows: 7}, {Rows: len(want)}, {Rows: len(want) - 1}, {Rows: 1000},
		{Bytes: 1}, {Bytes: 150}, {Bytes: 1000}, {Bytes: 1 << 20},
		{Rows: 7, Bytes: 500}, {Rows: 3, Bytes: 1000},
		{ScanBytes: 1}, {ScanBytes: 1000, Rows: 5}, {ScanBytes: 1, Rows: 1, Bytes: 1},
		{Expired: func() bool { return true }}, {Expired: func() bool { return false }, Rows: 11},
	} {
		r.Ranges = ranges
		what := fmt.Sprintf("Rows %d, Bytes %d, ScanBytes %d", r.Rows, r.Bytes, r.ScanBytes)
		pages := e.pages(name, r, nil)
		e.sameKeys(what, keys(slices.Concat(pages...)), want)
		full := r.Bytes == 0 && r.ScanBytes == 0 && r.Rows > 0
		if full && len(pages[0]) != min(r.Rows, len(want)) {
			e.Errorf("%s: without another budget a page holds what there is: %d rows of %d", what, len(pages[0]), len(want))
		}
	}
	// A scan of an empty table returns one empty page without a Next, and does not call Expired.
	empty := e.create("empty")
	asked := 0
	r := table.ScanRequest{Ranges: ranges, Rows: 10, Expired: func() bool { asked++; return true }}
	if pages := e.pages(empty, r, nil); len(slices.Concat(pages...)) != 0 {
		e.Errorf("Scan of an empty table: got %d rows", len(slices.Concat(pages...)))
	}
	if asked > 0 {
		e.Errorf("Expired is not asked before the first row was examined; there is none, it was asked %d times", asked)
	}
}

// The table "large" has 2 MiB, so that a scan with a limit on examined bytes or on time needs several pages.
const (
	largeRows = 512
	largeRow  = 4 << 10
)

func (e *env) large() (name table.RecordKey, want []string) {
	e.Helper()
	return e.grid("large", 8, largeRows/8, largeRow)
}

// scanBytes checks that a page ends after about ScanBytes examined bytes. It accepts four times as many, because a store
// may read ahead.
func scanBytes(e *env) {
	name, want := e.large()
	const budget = largeRows * largeRow / 16
	r := table.ScanRequest{Ranges: []key.Range{{}}, ScanBytes: budget}
	page, err := e.Store.Scan(e.Context(), name, r)
	if err != nil {
		e.Fatal(err)
	}
	if page.Next == nil || page.Scanned > 4*budget || len(page.Rows)*largeRow > 4*budget {
		e.Errorf("a page ends after about ScanBytes: of %d bytes, budget %d, it examined %d and returned %d rows, Next %q",
			largeRows*largeRow, budget, page.Scanned, len(page.Rows), page.Next)
	}
	e.sameKeys("with a budget of bytes scanned", keys(slices.Concat(e.pages(name, r, nil)...)), want)
}

// expired checks that a page ends when Expired returns true, and that Expired is called at least once per 64 KiB
// examined. The check tolerates small deviations.
func expired(e *env) {
	name, want := e.large()
	asked := 0
	r := table.ScanRequest{Ranges: []key.Range{{}}, Expired: func() bool { asked++; return false }}
	pages := e.pages(name, r, nil)
	e.sameKeys("never expired", keys(slices.Concat(pages...)), want)
	const step = 64<<10 + largeRow + 100
	if least := largeRows*largeRow/step - 1; asked < least {
		e.Errorf("Expired is asked at least once in 64 KiB examined: %d times in %d KiB, want at least %d",
			asked, largeRows*largeRow>>10, least)
	}
	asked = 0
	r.Expired = func() bool { asked++; return asked >= 3 }
	page, err := e.Store.Scan(e.Context(), name, r)
	if err != nil {
		e.Fatal(err)
	}
	if asked != 3 || page.Next == nil || page.Scanned > 4*step {
		e.Errorf("a page ends when Expired says so: it was asked %d times and said so the third, after %d bytes; Next %q",
			asked, page.Scanned, page.Next)
	}
	// From here on, Expired always returns true. Every page must still make progress, so that the
	// scan reaches the next partition.
	asked = 2
	r.Ranges = []key.Range{{Start: at("p06", fmt.Sprintf("r%03d", largeRows/8-10))}}
	e.sameKeys("always expired", keys(slices.Concat(e.pages(name, r, nil)...)), want[len(want)-largeRows/8-10:])
}
