package transfer_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/functions/edgetable/remote"
	"edgetable/functions/edgetable/transfer"
)

// tables are tables of several shapes, each with the number of ranges that are
// to be found at least.
var tables = map[string]struct {
	least int
	keys  func(i int) keys
}{
	"numbered":      {30, func(i int) keys { return keys{fmt.Sprintf("p%06d", i/10), fmt.Sprintf("%09d", i)} }},
	"guids":         {30, func(i int) keys { return keys{fmt.Sprintf("%08x-aa", uint32(i)*2654435761), "r"} }},
	"one partition": {30, func(i int) keys { return keys{"it's", fmt.Sprintf("%09d", i)} }},
	"ten":           {30, func(i int) keys { return keys{fmt.Sprint(i % 10), fmt.Sprintf("%09d", i)} }},
	"the empty partition": {30, func(i int) keys {
		if i < 1500 {
			return keys{"", fmt.Sprint(i)}
		}
		return keys{fmt.Sprint(i), ""}
	}},
	"other alphabets": {20, func(i int) keys { return keys{string([]rune{rune(0x3B1 + i%20), rune(0x4E00 + i*7), '😀'}), ""} }},
	"beyond the BMP": {1, func(i int) keys {
		return keys{string([]rune{[]rune{0x1F600, 0xFFE0, 0xE000, 0x41}[i%4], rune(0x1F600 + i/4)}), "x"}
	}},
	"long prefixes": {20, func(i int) keys { return keys{strings.Repeat("tenant-", 20) + fmt.Sprintf("%05d", i), "x"} }},
	"small":         {1, func(i int) keys { return keys{fmt.Sprint(i % 1000), ""} }},
}

// The ranges of a table have all its entities, once and in order, and so have
// the parts behind any entity.
func TestSplit(t *testing.T) {
	t.Parallel()
	for name, tt := range tables {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t)
			var list []keys
			for i := range 3000 {
				list = append(list, tt.keys(i))
			}
			slices.SortFunc(list, keys.compare)
			list = slices.Compact(list)
			fill(t, c, "People", list, nothing)
			ranges, err := transfer.Split(t.Context(), c, "People", "", 32)
			if err != nil || len(ranges) < tt.least || len(ranges) > 70 {
				t.Fatalf("%d ranges, %v: %+v", len(ranges), err, ranges)
			}
			read := func(filter string) (got []keys) {
				t.Helper()
				for e, err := range c.Entities(t.Context(), remote.Query{Table: "People", Filter: filter}) {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, keys{strings.Clone(e.PartitionKey), strings.Clone(e.RowKey)})
				}
				return got
			}
			var got []keys
			for _, r := range ranges {
				in := read(r.Filter())
				got = append(got, in...)
				if len(in) == 0 {
					continue
				}
				i := rand.N(len(in))
				var behind []keys
				for _, rest := range r.Behind(in[i].partition, in[i].row) {
					behind = append(behind, read(rest.Filter())...)
				}
				if !slices.Equal(behind, in[i+1:]) {
					t.Errorf("behind %+q of %+v are %d of %d", in[i], r, len(behind), len(in)-i-1)
				}
			}
			if !slices.Equal(got, list) {
				t.Errorf("the ranges have %d entities of %d: %+v", len(got), len(list), ranges)
			}
			low, high := list[len(list)/3].partition, list[len(list)*2/3].partition
			within := "PartitionKey ge " + transfer.Quote(low) + " and PartitionKey le " + transfer.Quote(high)
			if ranges, err = transfer.Split(t.Context(), c, "People", within, 32); err != nil || len(ranges) > 70 {
				t.Errorf("%d ranges, %v", len(ranges), err)
			}
			got = nil
			for _, r := range ranges {
				got = append(got, read(transfer.And(r.Filter(), within))...)
			}
			if want := read(within); !slices.Equal(got, want) {
				t.Errorf("the ranges within have %d entities of %d: %+v", len(got), len(want), ranges)
			}
			var progress atomic.Int64
			if n, err := transfer.Count(t.Context(), c, remote.Query{Table: "People"}, 4, &progress); err != nil || n != int64(len(list)) || progress.Load() != n {
				t.Errorf("counted %d, %v", n, err)
			}
		})
	}
}

// A measured table has the numbers that a plain loop finds.
func TestMeasure(t *testing.T) {
	t.Parallel()
	for name, tt := range tables {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t)
			var list []keys
			for i := range 3000 {
				list = append(list, tt.keys(i))
			}
			slices.SortFunc(list, keys.compare)
			list = slices.Compact(list)
			properties := func(i int) edm.Properties {
				if i%3 == 0 {
					return edm.AppendProperty(nil, "A", edm.Int64(1))
				}
				return edm.AppendProperty(edm.AppendProperty(nil, "A", edm.String("é")), "B", edm.Boolean(true))
			}
			fill(t, c, "People", list, properties)
			bytes, rows := int64(0), map[string]int64{}
			for i, k := range list {
				bytes += int64(table.EntitySize(k.partition, k.row, properties(i)))
				rows[k.partition]++
			}
			var most int64
			for _, n := range rows {
				most = max(most, n)
			}
			s, err := transfer.Measure(t.Context(), c, remote.Query{Table: "People"}, 4, new(atomic.Int64))
			if err != nil || s.Rows != int64(len(list)) || s.Bytes != bytes || s.Partitions != int64(len(rows)) || s.Largest[0].Rows != most {
				t.Fatalf("%+v, %v; want %d rows, %d bytes, %d partitions, the largest %d", s, err, len(list), bytes, len(rows), most)
			}
			third := int64(len(list)+2) / 3
			if len(s.Properties) != 2 || s.Properties[0].Types[edm.TypeInt64] != third || s.Properties[0].Types[edm.TypeString] != s.Rows-third ||
				s.Properties[1].Types[edm.TypeBoolean] != s.Rows-third {
				t.Errorf("%+v", s.Properties)
			}
		})
	}
}
