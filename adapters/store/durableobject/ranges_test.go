package durableobject_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// ranges is a table whose partitions have one entity of about 100 bytes each.
type ranges struct {
	*cloud
	t     *testing.T
	clock *clock
	store *durableobject.Store
	moved int // number of entities that splits and merges have moved
	begun int
}

func newRanges(t *testing.T, buckets uint16, bytes int64, rate float64) *ranges {
	k := newClock()
	w := &ranges{cloud: newCloud(t, k.now), t: t, clock: k}
	w.bytes, w.rate = bytes, rate
	w.inside = func(c durableobject.Call) fate {
		switch op, r, _ := message.Open(c.Message); op {
		case message.OpBegin:
			w.begun++
		case message.OpCopy:
			r.Destination()
			r.Incarnation()
			for r.Uint64(); r.OK() && !r.Done(); w.moved++ {
				r.Item()
			}
		}
		return fate{}
	}
	w.store = w.cloud.store(k.now, func(o *durableobject.Options) { o.Buckets = buckets })
	create(t, w.store, 1)
	return w
}

func (w *ranges) put(partition, row string) {
	w.t.Helper()
	m := table.Mutation{Key: at(partition, row), Nonce: 1, Properties: edm.AppendProperty(nil, "v", edm.String(strings.Repeat("x", 80)))}
	if _, err := w.store.Commit(w.t.Context(), tableKey, []table.Mutation{m}); err != nil {
		w.t.Fatal(err)
	}
}

// rest moves the clock, and alarms ring, until all splits are finished.
func (w *ranges) rest() {
	for range 200 {
		w.clock.pass(1e8)
		w.ring(w.clock.t)
	}
}

// objects returns the number of entities in each object, by name.
func (w *ranges) objects() (list []int) {
	for _, n := range w.all() {
		if strings.HasPrefix(n.id.Name, "catalog/") {
			continue
		}
		count := 0
		for _, r := range n.rows.Rows {
			if r.Key[0] == 'e' {
				count++
			}
		}
		list = append(list, count)
	}
	return list
}

// TestSplitWithTheSecond checks that a range with one partition splits when it gets a second partition.
func TestSplitWithTheSecond(t *testing.T) {
	w := newRanges(t, 1, 1000, 0)
	for row := range 40 {
		w.put("b", fmt.Sprintf("%02d", row))
	}
	if w.rest(); w.begun != 0 {
		t.Fatal("the only partition has split")
	}
	w.put("a", "1")
	if w.rest(); len(w.objects()) != 2 {
		t.Errorf("%d objects", len(w.objects()))
	}
}

// TestSplitInTheMiddle checks that a range with keys in random order is divided at half of its bytes.
func TestSplitInTheMiddle(t *testing.T) {
	t.Parallel()
	w := newRanges(t, 1, 10_000, 0)
	for i := range 100 {
		w.put(fmt.Sprintf("p%02d", i*37%100), "r")
	}
	w.rest()
	if got := w.objects(); w.begun != 1 || len(got) != 2 || got[0] < 40 || got[0] > 60 || got[0]+got[1] != 100 {
		t.Errorf("%d splits, entities %d", w.begun, got)
	}
}

// TestSplitAtTheEnd checks a range whose keys only grow. It must split at a key above its last partition, so
// that nothing is copied.
func TestSplitAtTheEnd(t *testing.T) {
	t.Parallel()
	w := newRanges(t, 1, 10_000, 0)
	for i := range 300 {
		w.put(fmt.Sprintf("p%03d", i), "r")
		w.ring(w.clock.t)
	}
	w.rest()
	if got := w.objects(); len(got) < 3 || w.moved > 0 || got[0] < 60 {
		t.Errorf("%d entities moved between %d", w.moved, got)
	}
}

// TestSplitOfBuckets checks that each bucket of a table splits, and that a Worker that does not know the
// ranges finds all entities, in order.
func TestSplitOfBuckets(t *testing.T) {
	t.Parallel()
	w := newRanges(t, 2, 5_000, 0)
	for i := range 200 {
		w.put(fmt.Sprintf("p%03d", i*37%200), "r")
	}
	w.rest()
	for bucket := range uint16(2) {
		ranges := 0
		name := durableobject.Range(tableText, 2, bucket, 0, "").Name
		for _, n := range w.all() {
			if (n.id.Name == name || strings.HasPrefix(n.id.Name, name+"/")) && len(n.rows.Rows) > 0 {
				ranges++
			}
		}
		if ranges < 2 {
			t.Errorf("bucket %d has %d ranges", bucket, ranges)
		}
	}
	cold := w.cloud.store(w.clock.now, nil) // the record contains the number of buckets
	page, err := cold.Scan(t.Context(), tableKey, everything)
	if err != nil || page.Next != nil || len(page.Rows) != 200 {
		t.Fatalf("%d rows, next %q, %v", len(page.Rows), page.Next, err)
	}
	for i := range page.Rows {
		if want := at(fmt.Sprintf("p%03d", i), "r"); string(page.Rows[i].Key) != string(want) {
			t.Fatalf("row %d is %q, not %q", i, page.Rows[i].Key, want)
		}
	}
}

// TestOnePartitionStays checks that a partition is never divided, however large or busy.
func TestOnePartitionStays(t *testing.T) {
	t.Parallel()
	w := newRanges(t, 1, 5_000, 1)
	for i := range 400 {
		w.put("p", fmt.Sprintf("%04d", i*37%400))
		w.clock.pass(1e8)
	}
	w.rest()
	if got := w.objects(); w.begun > 0 || len(got) != 1 {
		t.Errorf("%d splits, entities %d", w.begun, got)
	}
}

// TestSplitByLoad checks that a minute of requests above the rate splits a range if several partitions
// are requested. Requests below the rate, or for one partition, do not split it.
func TestSplitByLoad(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		partitions, pause int // pause in milliseconds
		splits            bool
	}{{10, 100, true}, {1, 100, false}, {10, 300, false}} {
		w := newRanges(t, 1, 0, 5)
		for i := range 20 {
			w.put(fmt.Sprintf("p%02d", i), "r")
		}
		for i := range 3 * 60_000 / row.pause {
			_, err := w.store.Get(t.Context(), tableKey, at(fmt.Sprintf("p%02d", 10+i%row.partitions), "r"), table.Strong)
			if err != nil {
				t.Fatal(err)
			}
			w.clock.t += edm.Ticks(row.pause) * edm.TicksPerSecond / 1000
			w.ring(w.clock.t)
		}
		if got := w.objects(); w.begun > 0 != row.splits {
			t.Errorf("%+v: entities %d", row, got)
		}
	}
}

// TestMessagesToRanges counts messages. A Worker that does not know the right range needs one more
// message. A query of a partition needs one message; a page over two ranges needs two.
func TestMessagesToRanges(t *testing.T) {
	t.Parallel()
	w := newRanges(t, 1, 10_000, 0)
	for i := range 100 {
		w.put(fmt.Sprintf("p%02d", i*37%100), "r")
	}
	w.rest()
	cold := w.cloud.store(w.clock.now, nil)
	sent := 0
	w.network = func(durableobject.Call) fate { sent++; return fate{} }
	expect := func(what string, want int) {
		t.Helper()
		if sent != want {
			t.Errorf("%s: %d messages, want %d", what, sent, want)
		}
		sent = 0
	}
	get := func(partition string) {
		t.Helper()
		if _, err := cold.Get(t.Context(), tableKey, at(partition, "r"), table.Strong); err != nil {
			t.Fatal(err)
		}
	}
	scan := func(ranges []key.Range, rows int) table.Page {
		t.Helper()
		page, err := cold.Scan(t.Context(), tableKey, table.ScanRequest{Ranges: ranges, Rows: rows})
		if err != nil {
			t.Fatal(err)
		}
		return page
	}
	get("p10")
	expect("the first range", 1)
	get("p90")
	expect("another, for the first time", 2)
	get("p91")
	expect("and again", 1)
	scan([]key.Range{{Start: key.PartitionFrom("p90"), End: key.PartitionAfter("p90")}}, 0)
	expect("a partition", 1)
	if page := scan([]key.Range{{}}, 0); len(page.Rows) != 100 || page.Next != nil {
		t.Errorf("%d rows, next %q", len(page.Rows), page.Next)
	}
	expect("a page over both", 2)
	if page := scan([]key.Range{{}}, 70); len(page.Rows) != 70 || string(page.Next) != string(at("p70", "r")) {
		t.Errorf("%d rows, next %q", len(page.Rows), page.Next)
	}
	expect("70 rows", 2)
	if page := scan([]key.Range{{}}, 20); len(page.Rows) != 20 {
		t.Errorf("%d rows", len(page.Rows))
	}
	expect("20 rows", 1)
}

// TestEarlierCode checks that a version that knows ranges and an earlier version refuse each other's
// messages, so that no part of a table is served as the whole.
func TestEarlierCode(t *testing.T) {
	t.Parallel()
	w := newRanges(t, 1, 10_000, 0)
	for i := range 100 {
		w.put(fmt.Sprintf("p%02d", i*37%100), "r")
	}
	w.rest()
	for _, n := range w.all() {
		for _, r := range n.rows.Rows {
			if string(r.Key) == "mm" {
				t.Errorf("%s has the marker of a whole bucket", n.id.Name)
			}
			if r.Key[0] == 'd' && !strings.Contains(string(r.Value), "\x00\x01") {
				t.Errorf("%s has a record that earlier code reads: %q", n.id.Name, r.Value)
			}
		}
	}
	catalog := durableobject.Catalog("acct", "")
	answer := w.handle(t.Context(), durableobject.Call{To: catalog, Message: message.Key(nil, message.OpLocate, tableText)})
	if _, err := message.Result(answer.Message); err != table.ErrBusy {
		t.Errorf("a bucket of earlier code that asks where it is: %v", err)
	}
	p := message.Destination{Table: tableText, Buckets: 1, Range: 1}
	if m := message.Get(nil, &p, at("p90", "r")); m[0] == 2 {
		t.Error("earlier code understands a message to a range")
	}
}

// TestClassesOfRanges checks the ids that the catalog gives to the ranges of a table. No two of these ids may
// be equal modulo the number of classes, so that no two ranges issue the same Timestamp. The number of ranges
// in other tables of the account must not matter.
func TestClassesOfRanges(t *testing.T) {
	t.Parallel()
	w, _ := many(t, 6, 8)
	catalog := w.node(durableobject.Catalog("acct", ""))
	last, _ := catalog.rows.Get([]byte("mn"))
	next := binary.BigEndian.AppendUint64(nil, binary.BigEndian.Uint64(last)+1020) // the id that the catalog gives next, after splits of other tables of the account
	catalog.rows.Put([]byte("mn"), next)
	w.bytes = 1
	w.evict()
	for i := range 20 {
		w.put(fmt.Sprintf("z%02d", i), "r")
		w.rest()
	}
	ids, classes := w.remaining(), map[uint32]bool{}
	for _, id := range ids {
		if classes[id%1024] {
			t.Errorf("of the ranges %d two have the class %d", ids, id%1024)
		}
		classes[id%1024] = true
	}
	if len(ids) < 20 || ids[len(ids)-1] < 1024 {
		t.Errorf("the ranges are %d", ids)
	}
}

// TestLateWriteOfAnEndedTable checks a write that was sent to the wrong range and refused. It must not
// be carried out when it arrives again after the table was deleted and created again.
func TestLateWriteOfAnEndedTable(t *testing.T) {
	t.Parallel()
	w, partitions := many(t, 3, 8)
	var late durableobject.Call
	w.network = func(c durableobject.Call) fate {
		if c.Writes() && late.Message == nil {
			late = durableobject.Call{To: c.To, Message: bytes.Clone(c.Message)}
		}
		return fate{}
	}
	m := table.Mutation{Key: at(partitions[2], "r"), Kind: table.Delete, Condition: table.Present}
	if _, err := w.cloud.store(w.clock.now, nil).Commit(t.Context(), tableKey, []table.Mutation{m}); err != nil {
		t.Fatal(err)
	}
	if p := (message.Destination{Table: tableText, Buckets: 1}); late.To.Name != durableobject.AddressOf(&p).Name {
		t.Fatalf("the write went to %s at first", late.To.Name)
	}
	w.clock.t += edm.TicksPerSecond
	d, err := w.store.ReadRecord(t.Context(), tableKey, table.Strong)
	if err == nil {
		err = w.store.Drop(t.Context(), tableKey, d.Revision)
	}
	if err != nil {
		t.Fatal(err)
	}
	create(t, w.store, 2)
	w.put(partitions[2], "r")
	w.handle(t.Context(), late)
	if _, err := w.store.Get(t.Context(), tableKey, m.Key, table.Strong); err != nil {
		t.Errorf("after a late deletion: %v", err)
	}
}

// TestPageMeetsABusyRange checks that a page ends before a range that cannot serve at the moment.
func TestPageMeetsABusyRange(t *testing.T) {
	t.Parallel()
	w, partitions := many(t, 6, 8)
	p := message.Destination{Table: tableText, Buckets: 1, Range: w.remaining()[3]}
	busy := durableobject.AddressOf(&p).Name
	w.network = func(c durableobject.Call) fate {
		if c.To.Name == busy {
			return fate{lose: true, err: durableobject.ErrOverloaded}
		}
		return fate{}
	}
	if page, err := w.store.Scan(t.Context(), tableKey, everything); !errors.Is(err, table.ErrBusy) {
		t.Errorf("a scan that wants all: %d rows, next %q, %v", len(page.Rows), page.Next, err)
	}
	page, err := w.store.Scan(t.Context(), tableKey, table.ScanRequest{Ranges: everything.Ranges, Rows: 1000})
	if err != nil || len(page.Rows) != 3 || page.Next == nil {
		t.Fatalf("%d rows, next %q, %v", len(page.Rows), page.Next, err)
	}
	from := table.ScanRequest{Ranges: []key.Range{{Start: page.Next}}}
	if _, err := w.store.Scan(t.Context(), tableKey, from); !errors.Is(err, table.ErrBusy) {
		t.Errorf("the next page: %v", err)
	}
	w.network = nil
	if page, err = w.store.Scan(t.Context(), tableKey, from); err != nil || len(page.Rows) != len(partitions)-3 || page.Next != nil {
		t.Errorf("%d rows, next %q, %v", len(page.Rows), page.Next, err)
	}
}
