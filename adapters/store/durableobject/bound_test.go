package durableobject_test

import (
	"fmt"
	"runtime"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/span"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// TestRefusedSplitsRest checks a table that has the maximum number of ranges, so that further splits are refused. The ranges
// report these refusals as events, serve their entities, and set no alarms while nobody uses the table.
func TestRefusedSplitsRest(t *testing.T) {
	t.Parallel()
	const buckets, partitions = 500, 2500 // each bucket may have two ranges, and has five partitions
	w := newRanges(t, buckets, 1, 0)
	for i := range partitions {
		w.put(fmt.Sprintf("p%04d", i), "r")
		if w.clock.t += edm.TicksPerSecond / 10; i%100 == 0 {
			w.ring(w.clock.t)
		}
	}
	w.hours(1)
	refused := w.events[span.SplitRefused]
	if got := len(w.objects()); got > message.MostRanges(buckets) || refused == 0 {
		t.Fatalf("%d ranges, and %d refused", got, refused)
	}
	w.hours(2) // two hours without requests, in which each range checks whether it is empty
	if got := w.events[span.SplitRefused] - refused; got > 0 {
		t.Errorf("%d were refused while nobody used the table", got)
	}
	w.evict()
	rang := 0
	for range 24 * 120 {
		w.clock.t += 30 * edm.TicksPerSecond
		rang += w.ring(w.clock.t)
	}
	if rang > 0 {
		t.Errorf("%d alarms in a day in which nobody used the table", rang)
	}
	for i := range partitions {
		if _, err := w.store.Get(t.Context(), tableKey, at(fmt.Sprintf("p%04d", i), "r"), table.Strong); err != nil {
			t.Fatalf("partition %d: %v", i, err)
		}
	}
}

// TestTrafficWhileRangesMove checks that statistics are available while a range splits, and while a range
// merges into its neighbour.
func TestTrafficWhileRangesMove(t *testing.T) {
	t.Parallel()
	w, partitions := many(t, 6, 8)
	asked := map[message.Op]int{}
	busy := false
	before := w.inside
	w.inside = func(c durableobject.Call) fate {
		op, _, _ := message.Open(c.Message)
		if !busy && (op == message.OpCopy || op == message.OpTake || op == message.OpSwitch) {
			busy = true
			report, err := w.store.Traffic(t.Context(), tableKey)
			if err != nil || report.Missing > 1 || len(report.Ranges) < 4 {
				t.Errorf("while ranges move (%d): %+v, %v", op, report, err)
			}
			busy = false
			asked[op]++
		}
		return before(c)
	}
	w.bytes = 1
	w.evict()
	w.put(partitions[3]+"a", "r")
	w.rest()
	w.removeOne(t, partitions[1])
	w.hours(3)
	if asked[message.OpCopy] == 0 || asked[message.OpTake] < 2 || asked[message.OpSwitch] < 2 || len(w.remaining()) != 6 {
		t.Errorf("asked %v, %d ranges", asked, len(w.remaining()))
	}
}

// TestMapsTakeNoNewMemory checks that the catalog makes no large allocations when it reads and writes the
// list of a bucket's ranges, even if their keys are long.
func TestMapsTakeNoNewMemory(t *testing.T) {
	w, partitions := many(t, 60, 1000) // the list of ranges has 60 kB
	d, err := w.store.ReadRecord(t.Context(), tableKey, table.Strong)
	if err != nil {
		t.Fatal(err)
	}
	ids, catalog, answer := w.remaining(), w.node(durableobject.Catalog("acct", "")), make([]byte, 0, 1<<20)
	messages := [][]byte{message.Ranges(nil, tableText, 0)}
	for i, id := range ids { // maxBegun permits only four unfinished splits, so only the first four of the messages begin a split
		messages = append(messages, message.Split(nil, message.OpBegin, &message.Splitting{Table: tableText, Incarnation: d.Incarnation, From: id, At: at(partitions[i]+"a", "r")}))
	}
	var before, after runtime.MemStats
	for range 2 { // only the first iteration may allocate memory, which the second iteration uses too
		runtime.ReadMemStats(&before)
		for _, m := range messages {
			catalog.memory.Handle(&catalog.rows, m, nil, answer)
		}
		runtime.ReadMemStats(&after)
	}
	if n := (after.TotalAlloc - before.TotalAlloc) / uint64(len(messages)); n > 20_000 {
		t.Errorf("a message takes %d bytes", n)
	}
}
