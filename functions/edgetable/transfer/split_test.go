package transfer_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"edgetable/adapters/client/remote"
	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/functions/edgetable/transfer"
	"edgetable/functions/edgetable/transfer/internal/size"
	"edgetable/functions/edgetable/transfer/ranges"
	"edgetable/functions/edgetable/transfer/scan"
	"edgetable/testdata/must"
)

// The map tables has functions that make keys of several kinds. The field least is the minimum number
// of ranges into which the method Divide must divide a table with such keys.
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

// keysOf calls the callback for each number below the variable splitRows. It returns the keys in
// key order without duplicates.
func keysOf(of func(i int) keys) (list []keys) {
	for i := range splitRows {
		list = append(list, of(i))
	}
	slices.SortFunc(list, keys.compare)
	return slices.Compact(list)
}

// TestSplit checks that the ranges of a table together have each entity once and in order. It also
// checks that Behind returns the part of a range after an entity.
func TestSplit(t *testing.T) {
	t.Parallel()
	for name, tt := range tables {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t)
			list := keysOf(tt.keys)
			random := rand.New(rand.NewPCG(1, uint64(len(name))))
			fill(t, c, "People", list, nothing)
			spans, err := split(t.Context(), c, "People", "", 32)
			if err != nil || len(spans) < tt.least || len(spans) > 70 {
				t.Fatalf("%d ranges, %v: %+v", len(spans), err, spans)
			}
			read := func(filters ...string) (got []keys) {
				t.Helper()
				for _, filter := range filters {
					for e, err := range c.Entities(t.Context(), remote.Query{Table: "People", Filter: filter}) {
						must.OK(t, err)
						got = append(got, keys{strings.Clone(e.PartitionKey), strings.Clone(e.RowKey)})
					}
				}
				return got
			}
			var got []keys
			for _, r := range spans {
				in := read(r.Filters()...)
				got = append(got, in...)
				if len(in) == 0 {
					continue
				}
				i := random.IntN(len(in))
				behind := read(r.Behind(ranges.Key{Partition: in[i].partition, Row: in[i].row}).Filters()...)
				if !slices.Equal(behind, in[i+1:]) {
					t.Errorf("behind %+q of %+v are %d of %d", in[i], r, len(behind), len(in)-i-1)
				}
			}
			if !slices.Equal(got, list) {
				t.Errorf("the ranges have %d entities of %d: %+v", len(got), len(list), spans)
			}
			low, high := list[len(list)/3].partition, list[len(list)*2/3].partition
			within := "PartitionKey ge " + ranges.Quote(low) + " and PartitionKey le " + ranges.Quote(high)
			if spans, err = split(t.Context(), c, "People", within, 32); err != nil || len(spans) > 70 {
				t.Errorf("%d ranges, %v", len(spans), err)
			}
			got = nil
			for _, r := range spans {
				for _, filter := range r.Filters() {
					got = append(got, read(ranges.And(filter, within))...)
				}
			}
			if want := read(within); !slices.Equal(got, want) {
				t.Errorf("the ranges within have %d entities of %d: %+v", len(got), len(want), spans)
			}
			var progress scan.Progress
			if n, err := transfer.Count(t.Context(), c, remote.Query{Table: "People"}, 4, &progress); err != nil || n != int64(len(list)) || progress.Rows.Load() != n {
				t.Errorf("counted %d, %v", n, err)
			}
		})
	}
}

// TestMeasure compares the statistics of Measure with statistics that a simple loop over all
// entities computes.
func TestMeasure(t *testing.T) {
	t.Parallel()
	for name, tt := range tables {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t)
			list := keysOf(tt.keys)
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
			s, err := transfer.Measure(t.Context(), c, remote.Query{Table: "People"}, 4, new(scan.Progress))
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

// TestSplitEvenly checks that no range is much longer than the others if the keys are consecutive
// numbers.
func TestSplitEvenly(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"numbered", "one partition"} {
		c := newClient(t)
		var list []keys
		for i := range 4000 {
			list = append(list, tables[name].keys(i))
		}
		slices.SortFunc(list, keys.compare)
		list = slices.Compact(list)
		fill(t, c, "People", list, nothing)
		spans, err := split(t.Context(), c, "People", "", 32)
		must.OK(t, err)
		longest := 0
		for _, r := range spans {
			n := 0
			for _, filter := range r.Filters() {
				for _, err := range c.Entities(t.Context(), remote.Query{Table: "People", Filter: filter}) {
					if n++; err != nil {
						t.Fatal(err)
					}
				}
			}
			longest = max(longest, n)
		}
		if longest > len(list)/6 {
			t.Errorf("%s: the longest of %d ranges has %d of %d entities", name, len(spans), longest, len(list))
		}
	}
}

// TestDivide checks that idle workers take over parts of a long range, even if the range is in one
// partition. Together the workers must read each entity once and in order.
func TestDivide(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"numbered", "one partition"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t)
			var list []keys
			for i := range 20_000 {
				list = append(list, tables[name].keys(i))
			}
			fill(t, c, "People", list, nothing)
			parts, err := readDivided(t.Context(), c, "People", 2)
			if err != nil || len(parts) < 2 {
				t.Fatalf("%d parts, %v", len(parts), err)
			}
			var got []keys
			for _, part := range parts {
				for _, k := range part {
					got = append(got, keys{k.Partition, k.Row})
				}
			}
			if !slices.Equal(got, list) {
				t.Errorf("read %d of %d entities", len(got), len(list))
			}
		})
	}
}

// split divides a table into ranges. The parameter want is the number of ranges. If the table
// cannot be divided further, split returns fewer ranges. The ranges are in key order.
func split(ctx context.Context, c *remote.Client, table, filter string, want int) ([]ranges.Range, error) {
	type piece struct {
		ranges.Range
		first ranges.Key
		whole bool
	}
	probe := ranges.Probes(c, table)
	whole, err := ranges.WholeTable(ctx, probe, filter)
	if err != nil {
		return nil, err
	}
	first, _, err := probe(ctx, remote.Query{Filter: filter})
	if err != nil {
		return nil, err
	}
	pieces := []piece{{whole, first, false}}
	for before := 0; len(pieces) < want && len(pieces) > before; {
		before = len(pieces)
		var next []piece
		for _, p := range pieces {
			left, right, ok, err := p.Divide(ctx, probe, p.first)
			if err != nil {
				return nil, err
			}
			if !ok || p.whole {
				next = append(next, piece{p.Range, p.first, true})
				continue
			}
			next = append(next, piece{left, p.first, false}, piece{right, right.From, false})
		}
		pieces = next
	}
	var list []ranges.Range
	for _, p := range pieces {
		list = append(list, p.Range)
	}
	return list, nil
}

// readDivided reads a table with several workers. The parameter want is the number of ranges. After
// size.WorthDividing entities, a worker waits until idle workers have divided the table into this
// number of ranges. readDivided returns the keys of each range, in key order.
func readDivided(ctx context.Context, c *remote.Client, table string, want int) (list [][]ranges.Key, err error) {
	var mu sync.Mutex
	found := map[*scan.Task][]ranges.Key{}
	enough := make(chan struct{})
	tasks, err := scan.All(ctx, c, remote.Query{Table: table}, 4, new(scan.Progress), func(ctx context.Context, one *scan.Task) error {
		mu.Lock()
		found[one] = nil
		if len(found) == want {
			close(enough)
		}
		mu.Unlock()
		for e, err := range one.Entities(ctx, c, remote.Query{Table: table}) {
			if err != nil {
				return err
			}
			mu.Lock()
			found[one] = append(found[one], ranges.Key{Partition: e.PartitionKey, Row: e.RowKey}.Clone())
			n := len(found[one])
			mu.Unlock()
			if n == size.WorthDividing {
				select {
				case <-enough:
				case <-ctx.Done():
				}
			}
		}
		return nil
	})
	for _, one := range tasks {
		list = append(list, found[one])
	}
	return list, err
}
