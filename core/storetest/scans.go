package storetest

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"unicode/utf16"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// Scans checks Scan: ranges, filters, limits and positions, and which concurrent writes a page may contain.
func Scans(t *testing.T, h Harness) {
	run(t, h, []law{
		{"Order", keyOrder},
		{"Ranges", ranges},
		{"Filters", filters},
		{"RowsAndBytes", rowsAndBytes},
		{"ScanBytes", scanBytes},
		{"Expired", expired},
		{"Paging", pagingUnderWrites},
		{"Snapshot", snapshotPages},
	})
}

// pages reads all pages of a scan, and checks the contract of each [table.Page]. If between is not nil, it is called
// with each Next that is not nil.
func (e *env) pages(name table.RecordKey, r table.ScanRequest, between func(next []byte)) [][]table.Row {
	e.Helper()
	var list [][]table.Row
	var last []byte // the key of the last row
	compare := bytes.Compare
	start, all := r.Ranges[0].Start, false
	if r.Descending {
		compare = func(a, b []byte) int { return bytes.Compare(b, a) }
		start = r.Ranges[len(r.Ranges)-1].End
		all = start == nil
	}
	for range 100_000 {
		page, err := e.Store.Scan(e.Context(), name, r)
		if err != nil {
			e.Fatalf("Scan from %q: %s", start, reason(err))
		}
		size := 0
		for _, row := range page.Rows {
			size += len(row.Key) + len(row.Properties)
			if last != nil && compare(row.Key, last) <= 0 {
				e.Fatalf("Scan reads in order: %s came after %s", showKey(row.Key), showKey(last))
			}
			if !slices.ContainsFunc(r.Ranges, func(r key.Range) bool { return r.Contains(row.Key) }) {
				e.Fatalf("Scan of %q returned %s, which is in none of the ranges", r.Ranges, showKey(row.Key))
			}
			last = row.Key
		}
		if r.Rows > 0 && len(page.Rows) > r.Rows {
			e.Fatalf("a page ends before it holds more than Rows entities: %d of %d", len(page.Rows), r.Rows)
		}
		if r.Bytes > 0 && size > r.Bytes && len(page.Rows) > 1 {
			e.Fatalf("a page ends before it holds more than Bytes: %d rows of %d bytes of %d", len(page.Rows), size, r.Bytes)
		}
		if len(page.Rows) > 0 && page.Scanned <= 0 {
			e.Fatalf("Scanned is the number of bytes examined: %d for %d rows", page.Scanned, len(page.Rows))
		}
		if page.Examined < len(page.Rows) {
			e.Fatalf("Examined is the number of entities examined: %d for %d rows", page.Examined, len(page.Rows))
		}
		list = append(list, page.Rows)
		if page.Next == nil {
			return list
		}
		if !all && compare(page.Next, start) <= 0 {
			e.Fatalf("Next has moved on since the page began: from %q to %q", start, page.Next)
		}
		if order := compare(page.Next, last); last != nil && order <= 0 && !(r.Descending && order == 0) {
			e.Fatalf("Next is behind every row of the page: %q after row %q", page.Next, last)
		}
		if between != nil {
			between(page.Next)
		}
		if r.Ranges = r.Rest(page.Next); len(r.Ranges) == 0 {
			return list
		}
		if start, all = r.Ranges[0].Start, false; r.Descending {
			start = r.Ranges[len(r.Ranges)-1].End
		}
	}
	e.Fatalf("Scan does not end")
	return nil
}

func (e *env) all(name table.RecordKey) []table.Row {
	e.Helper()
	return slices.Concat(e.pages(name, table.ScanRequest{Ranges: []key.Range{{}}}, nil)...)
}

func keys(rows []table.Row) []string {
	list := []string{}
	for _, r := range rows {
		list = append(list, string(r.Key))
	}
	return list
}

// sameKeys fails the test if the keys that a scan returned differ from the expected keys.
func (e *env) sameKeys(what string, got, want []string) {
	e.Helper()
	if slices.Equal(got, want) {
		return
	}
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	cut := func(s []string) string { return fmt.Sprintf("%d rows, from row %d on %.10q", len(s), i, s[i:]) }
	e.Errorf("%s:\n got %s\nwant %s", what, cut(got), cut(want))
}

// keyOrder checks that entities are ordered by PartitionKey and then RowKey, in the order of UTF-16 code units: an
// emoji (a surrogate pair, D83D …) comes before U+E000.
func keyOrder(e *env) {
	parts := []string{
		"", " ", "!", "0", "10", "2", "A", "Z", "a", "aa", "a\u00e9", "ab", "z", "~", "\u00a0", "\u00e9", "\u4e2d",
		"\ud7ff", "\U00010000", "\U0001F600", "\U0001F600a", "\U0010FFFF", "\ue000", "\uff01", "\uffe0", "\ufffd",
		"a\U0001F600", "a\ue000",
	}
	name := e.create("order")
	var m []table.Mutation
	for i, p := range slices.Backward(parts) {
		for j := range parts {
			m = append(m, put(p, parts[(i*7+j*5)%len(parts)], "")) // each RowKey occurs once, because 5 and the number of partitions, 28, have no common factor
		}
	}
	e.fill(name, m)
	slices.SortFunc(parts, func(a, b string) int {
		return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
	})
	var want []string
	for _, p := range parts {
		for _, r := range parts {
			want = append(want, string(at(p, r)))
		}
	}
	e.sameKeys("in one page", keys(e.all(name)), want)
	small := table.ScanRequest{Ranges: []key.Range{{}}, Rows: 5}
	e.sameKeys("in pages of five", keys(slices.Concat(e.pages(name, small, nil)...)), want)
}

// grid creates a table with the given number of partitions, rows in each partition, and bytes in each row. It returns
// the keys of the entities in order.
func (e *env) grid(name string, partitions, rows, size int) (k table.RecordKey, want []string) {
	e.Helper()
	k = e.create(name)
	m := gridRows(partitions, rows, size)
	for _, one := range m {
		want = append(want, string(one.Key))
	}
	e.fill(k, m)
	return k, want
}

// gridRows returns puts of the entities p00/r000, p00/r001 … in the order of their keys. Each entity has a number n and
// a padding.
func gridRows(partitions, rows, size int) []table.Mutation {
	padding := edm.Binary(bytes.Repeat([]byte{'.'}, size))
	var m []table.Mutation
	for p := range partitions {
		for r := range rows {
			properties := edm.AppendProperty(nil, "n", edm.Int32(int32(p*rows+r)))
			properties = edm.AppendProperty(properties, "padding", padding)
			m = append(m, table.Mutation{Key: at(fmt.Sprintf("p%02d", p), fmt.Sprintf("r%03d", r)), Properties: properties, Nonce: 1})
		}
	}
	return m
}

// ranges checks that a Scan reads exactly the requested ranges, whatever the size of a page is.
func ranges(e *env) {
	name, grid := e.grid("ranges", 5, 20, 10)
	k := func(p, r string) []byte { return at(p, r) }
	var points []key.Range // ranges of a single key each: for each entity, and for ten keys that no entity has
	for p := range 5 {
		for r := range 22 {
			one := at(fmt.Sprintf("p%02d", p), fmt.Sprintf("r%03d", r))
			points = append(points, key.Range{Start: one, End: append(bytes.Clone(one), 1)})
		}
	}
	for _, row := range []struct {
		why    string
		ranges []key.Range
	}{
		{"all", []key.Range{{}}},
		{"a partition", []key.Range{{Start: key.PartitionFrom("p02"), End: key.PartitionAfter("p02")}}},
		{"behind a partition", []key.Range{{Start: key.PartitionAfter("p02")}}},
		{"before a partition", []key.Range{{End: key.PartitionFrom("p02")}}},
		{"a point", []key.Range{{Start: key.RowFrom("p01", "r003"), End: key.RowAfter("p01", "r003")}}},
		{"End is exclusive", []key.Range{{Start: k("p01", "r003"), End: k("p01", "r005")}}},
		{"over partitions", []key.Range{{Start: k("p01", "r018"), End: k("p03", "r002")}}},
		{"bounds between keys", []key.Range{{Start: k("p01", "r0035"), End: k("p01", "r0055")}}},
		{"between two rows", []key.Range{{Start: k("p01", "r0035"), End: k("p01", "r0036")}}},
		{"between two partitions", []key.Range{{Start: key.PartitionAfter("p01"), End: key.PartitionFrom("p02")}}},
		{"behind all", []key.Range{{Start: key.PartitionFrom("q")}}},
		{"points", []key.Range{
			{Start: key.RowFrom("p00", "r000"), End: key.RowAfter("p00", "r000")},
			{Start: key.RowFrom("p01", "none"), End: key.RowAfter("p01", "none")},
			{Start: key.RowFrom("p03", "r007"), End: key.RowAfter("p03", "r007")},
			{Start: key.RowFrom("p03", "r009"), End: key.RowAfter("p03", "r009")},
		}},
		{"110 points", points},
		{"two partitions and the rest", []key.Range{
			{Start: key.PartitionFrom("p00"), End: key.PartitionAfter("p00")},
			{Start: key.PartitionFrom("p02"), End: key.PartitionAfter("p02")},
			{Start: k("p03", "r010")},
		}},
		{"ranges that touch", []key.Range{{End: k("p01", "r001")}, {Start: k("p01", "r001"), End: k("p01", "r002")}}},
	} {
		want := []string{}
		for _, k := range grid {
			if slices.ContainsFunc(row.ranges, func(r key.Range) bool { return r.Contains([]byte(k)) }) {
				want = append(want, k)
			}
		}
		for _, limit := range []int{0, 1, 3, 1000} {
			r := table.ScanRequest{Ranges: row.ranges, Rows: limit}
			e.sameKeys(fmt.Sprintf("%s, %d a page", row.why, limit), keys(slices.Concat(e.pages(name, r, nil)...)), want)
		}
		r := table.ScanRequest{Ranges: row.ranges, Consistency: table.Eventual}
		e.sameKeys(row.why+", eventually", keys(slices.Concat(e.pages(name, r, nil)...)), want)
	}
	for _, r := range e.all(name) {
		e.expect("what Scan shows", name, r.Key, formatRow(r))
		if got := shown(e.Store.Get(e.Context(), name, r.Key, table.Eventual)); got != formatRow(r) {
			e.Errorf("an eventual Get when replicas have caught up\n got %s\nwant %s", got, formatRow(r))
		}
	}
}
