package durableobject_test

import (
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

// This function returns a table with the given number of ranges. Each range has one partition. The key of each
// partition has the given length.
func many(t *testing.T, ranges, length int) (w *ranges, partitions []string) {
	w = newRanges(t, 1, 1, 0)
	for i := range ranges {
		partitions = append(partitions, fmt.Sprintf("%04d", i)+strings.Repeat("k", max(length-4, 0)))
		w.put(partitions[i], "r")
		w.ring(w.clock.t)
		w.clock.t += edm.TicksPerSecond / 10
	}
	w.rest()
	for i := 0; len(w.remaining()) < ranges && i < 20; i++ {
		for _, partition := range partitions {
			w.put(partition, "r")
		}
		w.rest()
	}
	if got := max(len(w.remaining()), 1); got != ranges {
		t.Fatalf("%d ranges, want %d", got, ranges)
	}
	w.bytes = 0 // the table does not split any more
	w.evict()
	return w, partitions
}

// TestWritesToTheWrongRange checks that a range remembers the answers to its own writes while it gets
// many writes for other ranges, from Workers that do not know the table's ranges. The range must not
// remember its answers to the writes for other ranges, because these answers are large.
func TestWritesToTheWrongRange(t *testing.T) {
	t.Parallel()
	w, partitions := many(t, 60, 500)
	for i := range 300 {
		cold := w.cloud.store(w.clock.now, nil)
		m := table.Mutation{Key: at(partitions[1+i%59], "r"), Nonce: 1}
		if _, err := cold.Commit(t.Context(), tableKey, []table.Mutation{m}); err != nil {
			t.Fatalf("write %d: %v", i, err)
		}
		w.clock.t += edm.TicksPerSecond / 50
	}
	// The answer must be small enough for a Worker with the least memory.
	p := message.Destination{Table: tableText, Buckets: 1}
	answer := w.handle(t.Context(), durableobject.Call{To: durableobject.AddressOf(&p), Message: message.Get(nil, &p, at(partitions[40], "r"))})
	_, err := message.Result(answer.Message)
	if moved, ok := errors.AsType[*message.RangedError](err); !ok || len(answer.Message) > 12<<10 || len(moved.Ranges) < 3 {
		t.Errorf("the answer has %d bytes, %v", len(answer.Message), err)
	}
}

// TestMessagesAtRest counts messages of Workers that share an up-to-date cache of the table's ranges. An
// operation sends one message to each range that has its keys, and none to the catalog.
func TestMessagesAtRest(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 20, 250} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			w, partitions := many(t, n, 60)
			maps := durableobject.NewMaps(durableobject.Options{})
			toObjects, toCatalog := 0, 0
			w.network = func(durableobject.Call) fate { toObjects++; return fate{} }
			w.inside = func(durableobject.Call) fate { toCatalog++; return fate{} }
			each := func(do func(s *durableobject.Store, partition string) error) {
				for _, partition := range partitions {
					s := w.cloud.store(w.clock.now, func(o *durableobject.Options) { o.Maps = maps.Ask })
					if err := do(s, partition); err != nil {
						t.Fatal(err)
					}
				}
			}
			get := func(s *durableobject.Store, partition string) error {
				_, err := s.Get(t.Context(), tableKey, at(partition, "r"), table.Strong)
				return err
			}
			if each(get); toCatalog > 1+n/20 || toObjects > n+1+n/20 {
				t.Errorf("to learn the map took %d messages to objects and %d to the catalog", toObjects-n, toCatalog)
			}
			batch := func(s *durableobject.Store, partition string) error {
				var list []table.Mutation
				for row := range 3 {
					list = append(list, table.Mutation{Key: at(partition, fmt.Sprint(row)), Nonce: 1})
				}
				_, err := s.Commit(t.Context(), tableKey, list)
				return err
			}
			page := func(s *durableobject.Store, partition string) error {
				page, err := s.Scan(t.Context(), tableKey, table.ScanRequest{Ranges: []key.Range{{Start: key.PartitionFrom(partition), End: key.PartitionAfter(partition)}}})
				if err == nil && len(page.Rows) != 4 {
					err = fmt.Errorf("%d rows", len(page.Rows))
				}
				return err
			}
			for what, do := range map[string]func(*durableobject.Store, string) error{"get": get, "batch": batch} {
				toObjects, toCatalog = 0, 0
				if each(do); toObjects != n || toCatalog != 0 {
					t.Errorf("%d of %s: %d messages to objects and %d to the catalog", n, what, toObjects, toCatalog)
				}
			}
			toObjects, toCatalog = 0, 0
			if each(page); toObjects != n || toCatalog != 0 {
				t.Errorf("%d pages: %d messages to objects and %d to the catalog", n, toObjects, toCatalog)
			}
		})
	}
}

// TestMapsAreBounded checks that the cached ranges of many tables stay below the size limit, and that
// entries in use are kept.
func TestMapsAreBounded(t *testing.T) {
	t.Parallel()
	maps := durableobject.NewMaps(durableobject.Options{})
	ask := func(w message.CacheRequest) (p message.Destination) {
		r := message.Read(maps.Ask(message.AppendCacheRequest(nil, &w)))
		return r.FoundRange()
	}
	where := message.Layout{Buckets: 4, Location: "eu"}
	for i := range 3000 {
		ask(message.CacheRequest{Kind: message.LearnLayout, Table: fmt.Sprint("table/acct/", i), Layout: where})
		if got := ask(message.CacheRequest{Kind: message.FindRange, Table: "table/acct/0"}); got.Buckets != 4 || got.Location != "eu" {
			t.Fatalf("the table in use is forgotten with table %d: %+v", i, got)
		}
	}
	known := 0
	for i := range 6000 {
		name := fmt.Sprint("table/acct/", i)
		if ask(message.CacheRequest{Kind: message.FindRange, Table: name}).Buckets == 4 {
			known++
		}
	}
	if known != 3000 {
		t.Errorf("%d layouts are known", known)
	}
	for i := range 60 {
		near := message.Named{}.Ranges
		for n := range 250 {
			start := []byte(fmt.Sprintf("%03d", n) + strings.Repeat("x", 200))
			near, _ = near.Split(uint32(n), uint32(n+1), start)
		}
		ask(message.CacheRequest{Kind: message.LearnRanges, Table: fmt.Sprint("table/acct/", i), Layout: where, Excerpt: near})
	}
	if ask(message.CacheRequest{Kind: message.FindRange, Table: "table/acct/2999"}).Buckets == 4 {
		t.Error("a map that was not asked for is known after sixty large ones")
	}
	if got := ask(message.CacheRequest{Kind: message.FindRange, Table: "table/acct/59", Position: []byte("100y")}); got.Range != 101 {
		t.Errorf("the last map has range %d", got.Range)
	}
}

// TestFiftyCalls checks that a table of 129 ranges can be read completely, counted and deleted. The platform's
// free plan permits 50 calls in one request, and 50 in each message of an object, so the deletion takes several
// messages. A drop, an alarm or a read may continue the deletion. In the end, nothing of the table is left.
func TestFiftyCalls(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"drop", "dropped by the alarm", "dropped by a read"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w, partitions := many(t, 129, 8)
			w.most = 50
			sent, most := 0, 50
			w.network = func(durableobject.Call) fate {
				if sent++; sent > most {
					return fate{lose: true, err: durableobject.ErrUnreachable}
				}
				return fate{}
			}
			cold := w.cloud.store(w.clock.now, nil)
			rows, pages := 0, 0
			for from := []byte{}; from != nil; pages++ {
				sent = 0
				page, err := cold.Scan(t.Context(), tableKey, table.ScanRequest{Ranges: []key.Range{{Start: from}}, Rows: 1000})
				if err != nil {
					t.Fatalf("page %d: %v", pages, err)
				}
				rows += len(page.Rows)
				from = page.Next
			}
			if rows != len(partitions) || pages > 10 {
				t.Errorf("%d rows in %d pages", rows, pages)
			}
			sent = 0
			if report, err := cold.Traffic(t.Context(), tableKey); err != nil || len(report.Ranges) != 49 || report.Missing != 129-49 {
				t.Errorf("statistics: %v, %+v", err, report)
			}
			sent = 0
			d, err := cold.ReadRecord(t.Context(), tableKey, table.Strong)
			if err != nil {
				t.Fatal(err)
			}
			if sent = 0; how != "drop" {
				most = 2 // the Worker ends after two messages
			}
			err = cold.Drop(t.Context(), tableKey, d.Revision)
			if how == "drop" && err != nil || how != "drop" && !errors.Is(err, table.ErrUnknown) {
				t.Errorf("drop: %v", err)
			}
			sent, most = 0, 50
			if how == "dropped by the alarm" {
				for range 100 {
					w.clock.t += edm.TicksPerSecond
					w.ring(w.clock.t)
				}
			}
			if _, err := cold.ReadRecord(t.Context(), tableKey, table.Strong); !errors.Is(err, table.ErrNoRecord) {
				t.Errorf("then a read of the record: %v", err)
			}
			create(t, cold, 2)
			if _, err := cold.Get(t.Context(), tableKey, at(partitions[70], "r"), table.Strong); !errors.Is(err, table.ErrNoEntity) {
				t.Errorf("the next table has an old entity: %v", err)
			}
			left := 0
			for _, n := range w.all() {
				if strings.Contains(n.id.Name, "/0/") {
					left += len(n.rows.Rows)
				}
			}
			if left > 20 && how == "drop" {
				t.Errorf("%d rows are left in the ranges of the table", left)
			}
		})
	}
}
