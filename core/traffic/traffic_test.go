package traffic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
)

// TestHeavyBounds compares the list with exact counts, for streams from uniform to
// steep: no count is too low, none is too high by more than its error, which is at
// most a 256th of the total, and no partition above that is absent.
func TestHeavyBounds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		zipf := rand.NewZipf(r, 1.01+float64(seed)/10, 1, 5000)
		var first, second heavy
		exact := map[string]uint64{}
		for i := range 20_000 {
			p := fmt.Sprint(zipf.Uint64())
			n := uint64(1)
			if seed%2 == 1 {
				n = r.Uint64N(50)
			}
			exact[p] += n
			h := &first
			if i > 12_000 {
				h = &second
			}
			h.add(hash(p), p, n)
		}
		check(t, first.save().merge(second.save()), exact)
		restored := first.save().restore()
		if !slices.Equal(restored.save().Entries, first.save().Entries) {
			t.Fatal("the list changes when it is saved")
		}
		for p, n := range exact {
			restored.add(hash(p), p, n) // the heap is one
		}
		for i := 1; i < len(restored.list); i++ {
			if restored.list[i].count < restored.list[(i-1)/2].count {
				t.Fatal("a restored list is no heap")
			}
		}
	}
}

func check(t *testing.T, h Heavy, exact map[string]uint64) {
	t.Helper()
	total, listed := uint64(0), map[string]bool{}
	for _, n := range exact {
		total += n
	}
	if h.Total != total {
		t.Fatalf("total %d, want %d", h.Total, total)
	}
	for _, e := range h.Entries {
		listed[e.Partition] = true
		if n := exact[e.Partition]; n > e.Count || n < e.Count-e.Error {
			t.Fatalf("%s: %d is not from %d to %d", e.Partition, n, e.Count-e.Error, e.Count)
		}
		if e.Error > total/heaviest {
			t.Fatalf("%s: error %d of %d", e.Partition, e.Error, total)
		}
	}
	for p, n := range exact {
		if n > total/heaviest && !listed[p] {
			t.Fatalf("%s with %d of %d is not in the list", p, n, total)
		}
	}
}

// TestPack checks that columns survive, and that damaged ones are noticed.
func TestPack(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var c cells
		for range r.IntN(300) {
			c[r.IntN(ranges)][r.IntN(metrics)] = r.Uint32() >> r.IntN(32)
		}
		packed := c.pack()
		if back, ok := unpack(packed); !ok || back != c {
			t.Fatal("a column changes")
		}
		if len(packed) > 0 {
			unpack(packed[:r.IntN(len(packed))]) // does not panic
		}
		if _, ok := unpack(append(packed, 0x80)); ok {
			t.Fatal("bytes behind the column are not noticed")
		}
	}
}

// TestGrid checks that the matrix loses no count, while its ranges follow keys that
// move and while columns become old.
func TestGrid(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	g := grid{random: 1}
	var want [metrics]uint64
	for m := range edm.Ticks(110) {
		g.tick(m * minute)
		for i := range 300 {
			k := key.Append(nil, fmt.Sprintf("p%05d", int(m)*20+r.IntN(40)), fmt.Sprint(i))
			g.add(k, i%2, 1)
			want[i%2]++
		}
		g.spread(key.PartitionFrom("p00100"), key.PartitionAfter("p00900"), scanned, 1001)
		g.spread(nil, nil, scanned, 7)
		want[scanned] += 1008
		if len(g.bounds) >= ranges || !slices.IsSortedFunc(g.bounds, bytes.Compare) {
			t.Fatalf("%d bounds, or not in order", len(g.bounds))
		}
	}
	g.tick(110 * minute)
	for _, list := range [][]Column{g.minutes, g.quarters} {
		var got [metrics]uint64
		for _, column := range list {
			c, ok := unpack(column.Cells)
			if !ok {
				t.Fatal("a column cannot be read")
			}
			for i := range c {
				for m, n := range c[i] {
					got[m] += uint64(n)
				}
			}
		}
		want := want
		if len(list) == len(g.quarters) { // the last five minutes are no quarter yet
			for i := range g.sum {
				for m, n := range g.sum[i] {
					want[m] -= uint64(n)
				}
			}
		}
		if got != want {
			t.Errorf("the columns hold %d, want %d", got, want)
		}
	}
	if len(g.bounds) < 100 {
		t.Errorf("only %d bounds for keys that move", len(g.bounds))
	}
	g.tick(2000 * minute)
	if len(g.minutes) != 0 || len(g.quarters) == 0 {
		t.Errorf("%d minutes and %d quarters after a day", len(g.minutes), len(g.quarters))
	}
	g.tick(20_000 * minute)
	if len(g.quarters) != 0 {
		t.Errorf("%d quarters after two weeks", len(g.quarters))
	}
}

// TestGridFollowsHeat checks that a busy part of the table gets many ranges.
func TestGridFollowsHeat(t *testing.T) {
	t.Parallel()
	g := grid{random: 1}
	for m := range edm.Ticks(20) {
		g.tick(m * minute)
		for i := range 1000 {
			pk := fmt.Sprintf("a%03d", i) // all in one hundredth of the keys
			if i%10 == 0 {
				pk = fmt.Sprintf("z%03d", i)
			}
			g.add(key.Append(nil, pk, ""), reads, 1)
		}
	}
	busy := g.find(key.PartitionFrom("b")) - g.find(key.PartitionFrom("a"))
	if busy < ranges/2 {
		t.Errorf("%d of %d ranges for nine tenths of the traffic", busy, len(g.bounds)+1)
	}
}

// TestEnds names orders of inserts.
func TestEnds(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for _, tt := range []struct {
		order    string
		key      func(i int) string
		end, low bool
	}{
		{"rising", func(i int) string { return fmt.Sprintf("%08d", i) }, true, false},
		{"rising, as 16 clients overtake each other", func(i int) string { return fmt.Sprintf("%08d", i^r.IntN(16)) }, true, false},
		{"falling", func(i int) string { return fmt.Sprintf("%08d", 99999-i) }, false, true},
		{"random", func(int) string { return fmt.Sprintf("%08d", r.IntN(1e8)) }, false, false},
		{"rising in many partitions", func(i int) string { return fmt.Sprintf("%04d-%08d", r.IntN(1000), i) }, false, false},
	} {
		var e ends
		judged, high, low := 0, 0, 0
		for i := range 2000 {
			j, h, l := e.insert([]byte(tt.key(i)))
			judged, high, low = judged+one(j), high+one(h), low+one(l)
		}
		if end, start := high*10 > judged*9, low*10 > judged*9; end != tt.end || start != tt.low || judged < 1900 {
			t.Errorf("%s: %d at the end and %d at the start of %d", tt.order, high, low, judged)
		}
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestShapesAreBounded checks that many shapes keep their sums, and that the
// expensive one is kept.
func TestShapesAreBounded(t *testing.T) {
	t.Parallel()
	var w window
	for i := range 1000 {
		w.query(&Visit{Plan: "Table", Shape: fmt.Sprintf("P%d eq ?", i), Scanned: 1})
		w.query(&Visit{Plan: "Table", Shape: "Expensive eq ?", Example: "Expensive eq 1", Scanned: 10})
	}
	sum, found := uint64(0), false
	for _, s := range w.shapes {
		sum += s.Scanned
		found = found || s.Filter == "Expensive eq ?" && s.Scanned == 10_000
	}
	if len(w.shapes) > shapes || sum != 11_000 || !found {
		t.Errorf("%d shapes, %d scanned, the expensive one kept: %v", len(w.shapes), sum, found)
	}
}

// at starts a counter.
func at(now edm.Ticks) *Counter {
	c := New()
	c.Tick(now)
	return c
}

func get(table, pk string) *Visit {
	return &Visit{Account: "a", Table: table, PartitionKey: pk, RowKey: "r", InPartition: true, Entities: 1, Bytes: 10}
}

// TestTables checks which tables are counted: the first 16, until a busier one comes.
func TestTables(t *testing.T) {
	t.Parallel()
	now := edm.Ticks(1000 * day)
	c := at(now)
	for i := range busiest {
		for range i + 5 {
			c.Add(get(fmt.Sprintf("t%d", i), "p"))
		}
	}
	for range 6 {
		c.Add(get("Late", "p"))
	}
	c.Add(get("quiet", "p"))
	c.Tick(now + minute)
	c.Add(get("late", "p"))
	c.Add(get("LATE", "p"))
	saved := c.Save()
	if _, ok := saved.Find("a", "t0"); ok {
		t.Error("the quietest table is still counted")
	}
	if _, ok := saved.Find("", "quiet"); ok || len(saved.Tables) != busiest {
		t.Errorf("%d tables", len(saved.Tables))
	}
	late, ok := saved.Find("a", "Late")
	if !ok || late.Report().Totals.Reads != 2 {
		t.Errorf("the busier table: %v", late)
	}
	c.tables[0] = newCounted(name{"a", "longername"}, "longername", now)
	for i := range 1 << len("longername") { // spellings do not fill the memory
		c.Add(get(spelling("longername", i), "p"))
	}
	if n := len(*c.known.Load()); n > aliases+1 {
		t.Errorf("%d names are known", n)
	}
}

// spelling puts some letters of a name in upper case.
func spelling(s string, bits int) string {
	b := []byte(s)
	for i := range b {
		if bits&(1<<i) != 0 {
			b[i] -= 'a' - 'A'
		}
	}
	return string(b)
}

// TestSampling checks that many reads in a second are sampled, and that their sum
// stays exact.
func TestSampling(t *testing.T) {
	t.Parallel()
	c := at(day)
	const n = 200_000
	for i := range n {
		c.Add(get("t", fmt.Sprint("p", i%4)))
	}
	s := c.Save()
	r := s.Tables[0].Report()
	if r.Totals.Reads != n {
		t.Errorf("%d reads", r.Totals.Reads)
	}
	for _, e := range r.Partitions["reads"].Entries {
		if off := float64(e.Count)/(n/4) - 1; off < -0.05 || off > 0.05 { // 4 deviations
			t.Errorf("%s: %d of %d", e.Partition, e.Count, n/4)
		}
	}
}

// TestMissed checks that a request never waits, and is known to be missed.
func TestMissed(t *testing.T) {
	t.Parallel()
	c := at(day)
	c.Add(get("t", "p"))
	c.tables[0].mu.Lock()
	c.Add(get("t", "p"))
	c.tables[0].mu.Unlock()
	s := c.Save()
	if got := s.Tables[0].Report().Totals; got.Reads != 1 || got.Missed != 1 {
		t.Errorf("%+v", got)
	}
}

// TestWindows checks that a report covers one to two days.
func TestWindows(t *testing.T) {
	t.Parallel()
	c := at(100 * day)
	for d := range edm.Ticks(4) {
		c.Tick((100 + d) * day)
		for range d + 1 {
			c.Add(get("t", fmt.Sprint("p", d)))
		}
	}
	s := c.Save()
	r := s.Tables[0].Report()
	if r.Totals.Reads != 3+4 || r.Partitions["reads"].Total != 7 || len(r.Partitions["reads"].Entries) != 2 || r.Since != (102*day).Time() {
		t.Errorf("%+v since %v", r.Partitions["reads"], r.Since)
	}
}

// TestRestore checks that a counter continues where another one was saved.
func TestRestore(t *testing.T) {
	t.Parallel()
	now := edm.Ticks(1000 * day)
	play := func(c *Counter, from, to int) {
		for i := from; i < to; i++ {
			c.Tick(now + edm.Ticks(i)*edm.TicksPerSecond)
			c.Add(get("t", fmt.Sprint("p", i%300)))
			c.Add(&Visit{Account: "a", Table: "t", Write: true, InPartition: true, PartitionKey: "w", RowKey: fmt.Sprintf("%06d", i), Entities: 1, Inserts: 1, Bytes: 1500, Largest: 1500})
			c.Add(&Visit{Account: "a", Table: "t", Plan: "Table", Shape: "A eq ?", Example: "A eq 1", Scanned: 100, Returned: 1})
			c.Add(&Visit{Account: "a", Table: "t", InPartition: true, PartitionKey: "w", Throttled: true})
		}
	}
	whole, part := at(now), at(now)
	play(whole, 0, 600)
	play(part, 0, 300)
	text, err := json.Marshal(part.Save())
	if err != nil {
		t.Fatal(err)
	}
	var saved Saved
	if err := json.Unmarshal(text, &saved); err != nil {
		t.Fatal(err)
	}
	restored, err := Restore(&saved, now+300*edm.TicksPerSecond)
	if err != nil {
		t.Fatal(err)
	}
	play(restored, 300, 600)
	a, b := whole.Save(), restored.Save()
	r, want := b.Tables[0].Report(), a.Tables[0].Report()
	if r.Totals.Judged != 600-lag || r.Totals.AtEnd != r.Totals.Judged || r.Totals.WriteUnits != 1200 || r.Totals.Throttled != 600 {
		t.Errorf("%+v", r.Totals)
	}
	r.Totals.Batchable, r.Totals.FirstPartitions = want.Totals.Batchable, want.Totals.FirstPartitions // by the second
	if r.Totals != want.Totals || !slices.Equal(r.Shapes, want.Shapes) || !slices.Equal(r.Partitions["writes"].Entries, want.Partitions["writes"].Entries) {
		t.Errorf("got %+v\nwant %+v", r, want)
	}
	if len(r.Map.Minutes) != len(want.Map.Minutes) || len(r.Map.Minutes) < 9 {
		t.Errorf("%d minutes, want %d", len(r.Map.Minutes), len(want.Map.Minutes))
	}
	saved.Tables[0].Bounds = make([][]byte, ranges)
	if _, err := Restore(&saved, now); err == nil {
		t.Error("too many ranges are accepted")
	}
}

// BenchmarkAdd is what a request costs.
func BenchmarkAdd(b *testing.B) {
	for _, partitions := range []int{1, 200, 100_000} {
		b.Run(fmt.Sprint("partitions=", partitions), func(b *testing.B) {
			c := at(1000 * day)
			r := rand.New(rand.NewPCG(1, 2))
			list := make([]*Visit, 1<<16)
			for i := range list {
				list[i] = get("People", fmt.Sprintf("customer-%06d", r.IntN(partitions)))
			}
			for i, v := range list {
				if c.Add(v); i%1000 == 0 {
					c.Tick(1000*day + edm.Ticks(i)*edm.TicksPerSecond)
				}
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				c.Add(list[i&(1<<16-1)])
			}
		})
	}
}

// BenchmarkAddParallel is the same from all processors at once.
func BenchmarkAddParallel(b *testing.B) {
	c := at(1000 * day)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		v := get("People", "customer-1")
		for pb.Next() {
			c.Add(v)
		}
	})
	c.Tick(1001 * day)
	s := c.Save()
	t := s.Tables[0].Report().Totals
	b.ReportMetric(100*float64(t.Missed)/float64(t.Missed+t.Reads), "%missed")
}
