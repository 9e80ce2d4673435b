package traffic

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"edgetable/core/edm"
)

// TestShapesAreBounded counts queries of more shapes than a window stores; a shape is a filter without its values.
// The sums over all shapes must stay right. The most expensive shape must remain.
func TestShapesAreBounded(t *testing.T) {
	t.Parallel()
	w := newWindow(0, ofTable)
	for i := range 1000 {
		w.query(&Visit{Plan: "Table", Shape: fmt.Sprintf("P%d eq ?", i), Scanned: 1})
		w.query(&Visit{Plan: "Table", Shape: "Expensive eq ?", Example: "Expensive eq 1", Scanned: 10})
	}
	sum, found := uint64(0), false
	for _, s := range w.shapes {
		sum += s.Scanned
		found = found || s.Filter == "Expensive eq ?" && s.Scanned == 10_000
	}
	if len(w.shapes) > ofTable.shapes || sum != 11_000 || !found {
		t.Errorf("%d shapes, %d scanned, the expensive one kept: %v", len(w.shapes), sum, found)
	}
}

// TestOthersAreOne checks the Shape "Other", which has the sums of all removed Shapes (groups of similar queries). The
// test fills a window, which holds the counts of a day, with the maximum number of Shapes. Then it adds a Shape
// "Other" from outside. The window must make room, and must have only one Shape "Other" afterwards.
func TestOthersAreOne(t *testing.T) {
	t.Parallel()
	w := newWindow(0, ofTable)
	for i := range ofTable.shapes {
		w.query(&Visit{Plan: "Table", Shape: fmt.Sprintf("P%d eq ?", i), Scanned: 1})
	}
	w.shape(&Visit{Plan: otherShapes}).add(&Shape{Pages: 5})
	others := 0
	for _, s := range w.shapes {
		if s.Plan == otherShapes {
			others++
		}
	}
	if others != 1 || len(w.shapes) > ofTable.shapes {
		t.Errorf("%d others of %d shapes", others, len(w.shapes))
	}
}

// at makes a Counter and sets its clock to the given time.
func at(now edm.Ticks) *Counter {
	c := New()
	c.Tick(now)
	return c
}

func get(table, pk string) *Visit {
	return &Visit{Account: "a", Table: table, PartitionKey: pk, RowKey: "r", InPartition: true, Entities: 1, Bytes: 10}
}

// TestTables checks which tables get detailed counts: the first 16, until another table is busier.
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
	for i := range 1 << len("longername") { // the number of spellings in the map Counter.known must stay below a limit
		c.Add(get(spelling("longername", i), "p"))
	}
	if n := len(*c.known.Load()); n > aliases+1 {
		t.Errorf("%d names are known", n)
	}
}

// TestTablesThatRest checks that a busy table keeps its detailed counts during hours in which only other tables have
// requests, even across a restart. Only a table with more requests may replace it.
func TestTablesThatRest(t *testing.T) {
	t.Parallel()
	now := edm.Ticks(1000 * day)
	c := at(now)
	minutes := func(n int, requests map[string]int) {
		for range n {
			for table, m := range requests {
				for range m {
					c.Add(get(table, "p"))
				}
			}
			now += minute
			c.Tick(now)
		}
	}
	reads := func(table string) uint64 {
		saved := c.Save()
		if one, ok := saved.Find("a", table); ok {
			return one.Report().Totals.Reads
		}
		return 0
	}
	all := map[string]int{}
	for i := range busiest {
		all[fmt.Sprintf("t%02d", i)] = 100 + i
	}
	minutes(60, all)
	minutes(8*60, map[string]int{"night": 3})
	for i := range 2 * waiting { // many tables that are busy for one minute, as when they are copied one after another
		minutes(1, map[string]int{fmt.Sprintf("copied%03d", i): 300})
	}
	saved := c.Save()
	c, err := Restore(&saved, now)
	if err != nil {
		t.Fatal(err)
	}
	c.Tick(now)
	minutes(1, map[string]int{"night": 3})
	for i := range busiest {
		if n := reads(fmt.Sprintf("t%02d", i)); n != 60*uint64(100+i) {
			t.Errorf("t%02d has %d reads", i, n)
		}
	}
	minutes(60, map[string]int{"new": 500})
	if reads("t00") != 0 || reads("t01") == 0 || reads("new") < 30*500 {
		t.Errorf("t00 has %d reads, t01 %d, the new one %d", reads("t00"), reads("t01"), reads("new"))
	}
	if n := len(c.waiting); n > waiting {
		t.Errorf("%d tables wait", n)
	}
}

// spelling returns a name with some letters in upper case.
func spelling(s string, bits int) string {
	b := []byte(s)
	for i := range b {
		if bits&(1<<i) != 0 {
			b[i] -= 'a' - 'A'
		}
	}
	return string(b)
}

// TestSampling checks that many reads in a second are sampled. The sum of the reads must stay exact.
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
		if off := float64(e.Count)/(n/4) - 1; off < -0.05 || off > 0.05 { // a tolerance of about 4 standard deviations
			t.Errorf("%s: %d of %d", e.Partition, e.Count, n/4)
		}
	}
}

// TestMissed checks that Add does not wait while another goroutine counts a request to the same table. Add must count
// the new request as missed.
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

// TestTools checks writes of edgetable's own tools. The counts of the last hour must include these writes. The detailed
// counts, on which advice about a table is based, must not include them.
func TestTools(t *testing.T) {
	t.Parallel()
	c := at(day)
	c.Add(&Visit{Account: "a", Table: "t", PartitionKey: "p", InPartition: true, Write: true, Tool: true, Entities: 3, Inserts: 3})
	if s := c.Save(); len(s.Tables) != 0 {
		t.Errorf("a table is judged: %+v", s.Tables)
	}
	if h := c.Hour("a", "t"); sumOf(h) != 3 {
		t.Errorf("the last hour has %+v", h)
	}
}

// TestWindows checks that a report covers the current period of a day and the previous period, but no earlier period.
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

// TestRestore checks that a restored Counter has the same counts as the saved one, and continues them.
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
	r.Totals.Batchable, r.Totals.FirstPartitions = want.Totals.Batchable, want.Totals.FirstPartitions // the two fields depend on which requests were in the same second
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
