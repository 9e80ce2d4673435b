package workerskv_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"edgetable/adapters/store/workerskv"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/table"
	"edgetable/testdata/memstore"
)

// TestPagesAgainstTheReference checks that scans return the same rows as a reference store in memory: with small and
// large entities, with any limit of calls per page, and even if KV often refuses cursors.
func TestPagesAgainstTheReference(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 5))
		w := newWorld(t, seed)
		now := steady()
		calls := []int{8, 9, 12, 20, 500}[seed%5]
		s := w.isolate(now, workerskv.Options{BestEffort: true, Calls: calls})
		reference := memstore.New(now)
		w.create(s, 1)
		d := table.Record{Key: tableName}
		d.Incarnation[0] = 1
		if _, err := reference.WriteRecord(w.Context(), d); err != nil {
			t.Fatal(err)
		}
		parts := []string{"", "p", "pa", "p\uffe0", "p\U0001F600", "q"}
		name := func() string {
			return []string{"", "a", "b", "\uffe0", "\U0001F600"}[rnd.IntN(5)] + fmt.Sprint(rnd.IntN(30))
		}
		for range 150 {
			p := parts[rnd.IntN(len(parts))]
			var m []table.Mutation
			for range 1 + rnd.IntN(2)*rnd.IntN(6) {
				one := number(p, name(), int32(rnd.IntN(100)))
				if rnd.IntN(20) == 0 {
					one.Properties = edm.AppendProperty(one.Properties, "large", edm.Binary(make([]byte, 2000)))
				}
				if rnd.IntN(5) == 0 {
					one = table.Mutation{Key: one.Key, Kind: table.Delete, Condition: table.Present}
				}
				if !slices.ContainsFunc(m, func(o table.Mutation) bool { return string(o.Key) == string(one.Key) }) {
					m = append(m, one)
				}
			}
			_, want := reference.Commit(w.Context(), tableName, m)
			_, got := s.Commit(w.Context(), tableName, m)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("seed %d: Commit got %v, want %v", seed, got, want)
			}
			w.settle()
		}
		filter, err := odata.Parse("n lt 50")
		if err != nil {
			t.Fatal(err)
		}
		bound := func() []byte {
			p := parts[rnd.IntN(len(parts))]
			return [][]byte{key.PartitionFrom(p), key.PartitionAfter(p), key.RowFrom(p, name()), key.RowAfter(p, name())}[rnd.IntN(4)]
		}
		for range 40 {
			r := key.Range{Start: bound(), End: bound()}
			switch rnd.IntN(8) {
			case 0:
				r = key.Range{}
			case 1:
				r = partition(parts[rnd.IntN(len(parts))])
			case 2:
				k := key.Append(nil, parts[rnd.IntN(len(parts))], name())
				r = key.Range{Start: k, End: append(slices.Clone(k), 1)}
			}
			if r.Empty() {
				continue
			}
			request := table.ScanRequest{Ranges: []key.Range{r}, Rows: rnd.IntN(10)}
			if rnd.IntN(3) == 0 {
				request.Filter = filter
			}
			want := follow(t, reference, request)
			if got := follow(t, s, request); got != want {
				t.Fatalf("seed %d, %d calls, %q, %d a page:\n got %s\nwant %s", seed, calls, r, request.Rows, got, want)
			}
		}
	}
}

// follow reads all pages of a scan and returns their rows as text.
func follow(t *testing.T, s table.Store, r table.ScanRequest) string {
	t.Helper()
	var b strings.Builder
	whole := r.Ranges
	for pages := 0; ; pages++ {
		if pages == 10_000 {
			t.Fatal("the scan does not end")
		}
		page, err := s.Scan(t.Context(), tableName, r)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range page.Rows {
			fmt.Fprintf(&b, "%q:%d ", row.Key, len(row.Properties))
		}
		if page.Next == nil {
			return b.String()
		}
		if string(page.Next) <= string(r.Ranges[0].Start) {
			t.Fatalf("the position does not advance: %q, then %q", r.Ranges[0].Start, page.Next)
		}
		if r.Ranges = key.From(whole, page.Next); len(r.Ranges) == 0 {
			return b.String()
		}
	}
}

// TestCursorsAreUsed checks that the next page of a scan needs only one list. The position contains KV's cursor, so
// the rows of earlier pages are not listed again.
func TestCursorsAreUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.cloud.cursed = false
	now := steady()
	s := w.isolate(now, workerskv.Options{})
	w.create(s, 1)
	const rows = 2000
	w.fill(s, rows)
	reader := w.isolate(now, workerskv.Options{})
	before := w.cloud.lists
	pages := strings.Count(w.show(reader, partition("p"), 100), "=1") / 100
	if got, most := w.cloud.lists-before, 2*pages+1; pages != rows/100 || got > most {
		t.Errorf("%d pages of 100 rows took %d lists, want at most %d", pages, got, most)
	}
}
