package pebblestore_test

import (
	"bytes"
	"testing"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/key"
	"edgetable/core/table"
)

// TestPause checks that a scan calls Pause at least once per 64 KiB. During the call, the scan
// holds no lock: writes are possible, and the page does not show these writes. If Pause returns
// true, the page ends, and the next page continues at this position.
func TestPause(t *testing.T) {
	t.Parallel()
	s := open(t, pebblestore.Options{Memory: true})
	if err := create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	const rows = 300
	write := func(i int) {
		t.Helper()
		if _, err := s.Commit(t.Context(), people, []table.Mutation{person(i)}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range rows {
		write(2 * i)
	}
	asked, last := 0, 0
	all, err := s.Scan(t.Context(), people, table.ScanRequest{
		Ranges: []key.Range{{}},
		Pause: func(rows, size int) bool {
			if asked > 0 && size-last > 66<<10 {
				t.Errorf("%d bytes without a question", size-last)
			}
			last = size
			write(2*asked + 1) // inserts a row between the existing rows
			asked++
			return false
		},
	})
	if err != nil || len(all.Rows) != rows || asked < all.Scanned>>16 || asked == 0 {
		t.Fatalf("%v: %d rows and %d bytes with %d questions", err, len(all.Rows), all.Scanned, asked)
	}
	short, err := s.Scan(t.Context(), people, table.ScanRequest{
		Ranges: []key.Range{{}}, Pause: func(_, size int) bool { return size > 100<<10 },
	})
	if err != nil || short.Next == nil || short.Scanned > 200<<10 {
		t.Fatalf("%v: a page of %d bytes, next %q", err, short.Scanned, short.Next)
	}
	rest, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: key.From([]key.Range{{}}, short.Next)})
	if err != nil || len(short.Rows)+len(rest.Rows) != rows+asked {
		t.Fatalf("%v: %d and %d rows", err, len(short.Rows), len(rest.Rows))
	}
	if bytes.Compare(short.Rows[len(short.Rows)-1].Key, rest.Rows[0].Key) >= 0 {
		t.Error("the pages overlap")
	}
}
