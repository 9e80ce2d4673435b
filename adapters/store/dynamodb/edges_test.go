package dynamodb_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"edgetable/adapters/store/dynamodb"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// TestLongKeys checks that a scan continues after a key of the maximum length. The
// position after a key of 1024 bytes has 1025 bytes, which is too long for a sort key.
func TestLongKeys(t *testing.T) {
	t.Parallel()
	s, w := overWire(t, dynamodb.Options{Buckets: 1})
	long := strings.Repeat("k", 1018)
	var want []string
	for i := range 7 {
		k := key.Append(nil, "part", fmt.Sprint(long, i))
		want = append(want, string(k))
		if _, err := s.Commit(t.Context(), people, []table.Mutation{{Key: k}}); err != nil {
			t.Fatal(err)
		}
		if len(k) != 1024 {
			t.Fatalf("a key of %d bytes", len(k))
		}
	}
	w.always = func(string) fault { return fault{how: partly} } // each Query returns one item
	for _, r := range [][]key.Range{
		everything,
		{{Start: key.RowFrom("part", long), End: key.RowAfter("part", long+"9")}},
		{{Start: key.RowAfter("part", ""), End: key.PartitionAfter("part")}},
	} {
		for rows := range 4 {
			var got []string
			for left := r; len(left) > 0; {
				page, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: left, Rows: rows})
				if err != nil {
					t.Fatal(err)
				}
				for _, row := range page.Rows {
					got = append(got, string(row.Key))
				}
				if page.Next == nil {
					break
				}
				left = key.From(r, page.Next)
			}
			if !slices.Equal(got, want) {
				t.Errorf("pages of %d: got %d rows, want %d", rows, len(got), len(want))
			}
		}
	}
	// These ranges have bounds that are longer than any key.
	for _, row := range []struct {
		r    key.Range
		want int
	}{
		{key.Range{Start: key.RowAfter("part", long+"2")}, 4},
		{key.Range{Start: key.RowFrom("part", long+"2"+long)}, 4},
		{key.Range{End: key.RowFrom("part", long+"2"+long)}, 3},
		{key.Range{Start: key.RowFrom("part", long+"2"+long), End: key.RowFrom("part", long+"4"+long)}, 2},
		{key.Range{Start: key.RowFrom("part", long+"2x"), End: key.RowAfter("part", long+"2x")}, 0},
		{key.Range{Start: key.RowAfter("part", long+"2"), End: key.RowFrom("part", long+"2"+long)}, 0},
	} {
		for _, descending := range []bool{false, true} {
			page, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: []key.Range{row.r}, Descending: descending})
			if err != nil || len(page.Rows) != row.want {
				t.Errorf("%d…%d bytes, descending %t: %d rows, %v, want %d", len(row.r.Start), len(row.r.End), descending, len(page.Rows), err, row.want)
			}
		}
	}
}

// TestClockBehind checks writes of any kind by a process whose clock is an hour behind.
// When it overwrites the entities of another process, Timestamps must rise.
func TestClockBehind(t *testing.T) {
	t.Parallel()
	name := newTable(t)
	ahead := open(t, dynamodb.Options{Table: name})
	behind := open(t, dynamodb.Options{Table: name, Now: func() edm.Ticks { return now() - 3600*edm.TicksPerSecond }})
	create(t, ahead)
	for _, m := range []table.Mutation{
		upsert("r", nil),
		{Key: key.Append(nil, "p", "r"), Kind: table.Merge},
		{Key: key.Append(nil, "p", "r"), Kind: table.Delete, Condition: table.Present},
	} {
		high, err := ahead.Commit(t.Context(), people, []table.Mutation{upsert("r", nil)})
		if err != nil {
			t.Fatal(err)
		}
		late := open(t, dynamodb.Options{Table: name, Now: func() edm.Ticks { return now() - 3600*edm.TicksPerSecond }})
		for _, s := range []table.Store{late, behind} {
			got, err := s.Commit(t.Context(), people, []table.Mutation{m})
			if err != nil || got <= high {
				t.Errorf("kind %d: Timestamp %d after %d, %v", m.Kind, got, high, err)
			}
			other, err := s.Commit(t.Context(), people, []table.Mutation{upsert("other", nil)})
			if err != nil || other <= got {
				t.Errorf("kind %d: another entity's Timestamp %d after %d, %v", m.Kind, other, got, err)
			}
			if m.Kind == table.Delete {
				break
			}
			high = got
		}
	}
}
