package workerskv_test

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/store/workerskv"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// steady is a clock that runs a little with each look.
func steady() func() edm.Ticks {
	t := edm.TicksOf(time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC))
	return func() edm.Ticks { t += 10; return t }
}

var tableName = table.RecordKey{Account: "acct", Table: "one"}

// recordName is the name that KV has for the record of the table.
const recordName = "dtable/acct/one"

// create makes the table, and everybody sees it.
func (w *world) create(s *workerskv.Store, life byte) {
	w.Helper()
	d := table.Record{Key: tableName}
	d.Incarnation[0] = life
	if _, err := s.WriteRecord(w.Context(), d); err != nil {
		w.Fatal(err)
	}
	w.settle()
}

func number(partition, row string, n int32) table.Mutation {
	return table.Mutation{Key: key.Append(nil, partition, row), Nonce: uint64(n), Properties: edm.AppendProperty(nil, "n", edm.Int32(n))}
}

func partition(p string) key.Range {
	return key.Range{Start: key.PartitionFrom(p), End: key.PartitionAfter(p)}
}

// pages are those of a scan, one read after the other.
func (w *world) pages(s table.Store, r table.ScanRequest) iter.Seq[table.Page] {
	return func(yield func(table.Page) bool) {
		w.Helper()
		for len(r.Ranges) > 0 {
			page, err := s.Scan(w.Context(), tableName, r)
			if err != nil {
				w.Fatal(err)
			}
			if !yield(page) || page.Next == nil {
				return
			}
			r.Ranges = key.From(r.Ranges, page.Next)
		}
	}
}

// show reads a range, page by page, as row=number.
func (w *world) show(s table.Store, r key.Range, rows int) string {
	w.Helper()
	var b strings.Builder
	for page := range w.pages(s, table.ScanRequest{Ranges: []key.Range{r}, Rows: rows}) {
		for _, row := range page.Rows {
			v, _ := row.Properties.Lookup("n")
			p, r := key.Decode(row.Key)
			fmt.Fprintf(&b, "%s/%s=%d ", p, r, v.Int())
		}
	}
	return b.String()
}

// state n of partition p: some rows with the number n, others gone.
func state(n int32) (batch []table.Mutation, shown string) {
	for i := range 6 {
		m := number("p", fmt.Sprint(i), n)
		if i == 2 { // what is listed is read apart
			m.Properties = edm.AppendProperty(m.Properties, "large", edm.Binary(make([]byte, 2000)))
		}
		if n > 1 && (i+int(n))%3 == 0 {
			if (i+int(n-1))%3 != 0 {
				m = table.Mutation{Key: m.Key, Kind: table.Delete, Condition: table.Present}
				batch = append(batch, m)
			}
			continue
		}
		batch = append(batch, m)
		shown += fmt.Sprintf("p/%d=%d ", i, n)
	}
	return batch, shown
}

// Whoever reads a partition, and whenever, sees what one transaction left, or the
// one before it: never half. The writer does its work, the moving of rows out
// of the journal included, at all possible distances.
func TestNeverHalf(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		w := newWorld(t, seed)
		now := steady()
		o := workerskv.Options{SingleWriter: true}
		writer := w.isolate(now, o)
		w.create(writer, 1)
		whole := map[string]bool{"": true}
		reads := func() {
			for range 5 {
				reader := w.isolate(now, o)
				if got := w.show(reader, partition("p"), 0); !whole[got] {
					t.Fatalf("seed %d: a reader sees %q, which no transaction left", seed, got)
				}
				if got := w.show(reader, key.Range{}, 0); !whole[strings.ReplaceAll(got, "q/r=0 ", "")] {
					t.Fatalf("seed %d: a reader of all sees %q", seed, got)
				}
				w.wait(time.Duration(rnd.Int64N(int64(20 * time.Second))))
			}
		}
		for n := int32(1); n < 25; n++ {
			batch, shown := state(n)
			if _, err := writer.Commit(w.Context(), tableName, batch); err != nil {
				t.Fatal(err)
			}
			whole[shown] = true
			if got := w.show(writer, partition("p"), 2); got != shown {
				t.Fatalf("seed %d: the writer itself sees %q, want %q", seed, got, shown)
			}
			for range rnd.IntN(4) {
				// Single writes of the same entities keep their number.
				one := merge(fmt.Sprint(rnd.IntN(6)), "single")
				one.Condition = table.Present
				if _, err := writer.Commit(w.Context(), tableName, []table.Mutation{one}); err != nil && !errors.Is(err, table.ErrNoEntity) {
					t.Fatal(err)
				}
				reads()
			}
			reads()
			if n%5 == 0 {
				// A long pause, and writes elsewhere.
				w.wait(time.Duration(rnd.Int64N(int64(400 * time.Second))))
				if _, err := writer.Commit(w.Context(), tableName, []table.Mutation{number("q", "r", 0)}); err != nil {
					t.Fatal(err)
				}
				reads()
			}
		}
	}
}

// When there is time between transactions, the journal comes to its end: what it
// held is where it belongs.
func TestJournalEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	now := steady()
	writer := w.isolate(now, workerskv.Options{SingleWriter: true})
	w.create(writer, 1)
	batch, want := state(1)
	if _, err := writer.Commit(w.Context(), tableName, batch); err != nil {
		t.Fatal(err)
	}
	if got := w.cloud.left("e"); got != 0 {
		t.Errorf("a transaction is one put of its journal; %d entities were written", got)
	}
	for i := range int32(4) {
		w.settle()
		if _, err := writer.Commit(w.Context(), tableName, []table.Mutation{number("p", "x", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if j, e := w.cloud.left("j"), w.cloud.left("e"); j != 0 || e != 7 {
		t.Errorf("there are %d journals and %d entities, want none and 7", j, e)
	}
	w.settle()
	if got := w.show(w.isolate(now, workerskv.Options{SingleWriter: true}), partition("p"), 0); got != want+"p/x=3 " {
		t.Errorf("then there is %q, want %q", got, want+"p/x=3 ")
	}
}

// Each call of a namespace may be the last of an isolate, with its effect or
// without. Another takes its place: what was answered is there, what was not is
// there whole or not at all, and all goes on.
func TestCrashes(t *testing.T) {
	t.Parallel()
	errDead := errors.New("isolate is dead")
	for _, applied := range []bool{false, true} {
		for at := 0; ; at++ {
			what := fmt.Sprintf("write %d, applied %v", at, applied)
			w := newWorld(t, uint64(at))
			now := steady()
			o := workerskv.Options{SingleWriter: true}
			first := w.isolate(now, o)
			w.create(first, 1)
			count, dead := 0, false
			w.cloud.fault = func(string) (error, bool) {
				if dead {
					return errDead, false
				}
				if count++; count > at {
					dead = true
					return errDead, applied
				}
				return nil, false
			}
			answered := int32(0)
			for n := int32(1); n < 6 && !dead; n++ {
				batch, _ := state(n)
				_, err := first.Commit(w.Context(), tableName, batch)
				if err == nil {
					answered = n
				} else if !errors.Is(err, table.ErrUnknown) {
					t.Fatalf("%s: Commit of a dying isolate: %v", what, err)
				}
				w.wait(130 * time.Second)
			}
			w.cloud.fault = nil
			w.settle()
			second := w.isolate(now, o)
			_, done := state(answered)
			if answered == 0 {
				done = ""
			}
			_, maybe := state(answered + 1)
			if got := w.show(second, partition("p"), 0); got != done && (got != maybe || !dead) {
				t.Fatalf("%s: after %d there is %q", what, answered, got)
			}
			for n := int32(50); n < 53; n++ {
				batch, _ := state(n)
				for i := range batch {
					batch[i].Condition = table.Always
					if batch[i].Kind == table.Delete {
						batch[i] = number("p", string(batch[i].Key[2:]), n) // whatever is there
					}
				}
				if _, err := second.Commit(w.Context(), tableName, batch); err != nil {
					t.Fatalf("%s: the next writer: %v", what, err)
				}
				w.wait(130 * time.Second)
			}
			if !dead {
				if at == 0 {
					t.Fatal("no write was ever made to fail")
				}
				break
			}
		}
	}
}

// A transaction of many inserts does not read each of what it finds not there.
func TestManyInserts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.cloud.cursed = false
	s := w.isolate(steady(), workerskv.Options{SingleWriter: true})
	w.create(s, 1)
	inserts := func(from int) (batch []table.Mutation) {
		for i := range 100 {
			m := number("p", fmt.Sprint(1000+from+i), 1)
			m.Condition = table.Absent
			if i%40 == 0 {
				m.Properties = edm.AppendProperty(m.Properties, "large", edm.Binary(make([]byte, 2000)))
			}
			batch = append(batch, m)
		}
		return batch
	}
	before := w.cloud.gets + w.cloud.lists
	if _, err := s.Commit(w.Context(), tableName, inserts(0)); err != nil {
		t.Fatal(err)
	}
	if reads := w.cloud.gets + w.cloud.lists - before; reads > 4 {
		t.Errorf("100 inserts took %d reads", reads)
	}
	for range 12 { // until the journal is empty
		w.settle()
		if _, err := s.Commit(w.Context(), tableName, []table.Mutation{number("p", "other", 1)}); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.cloud.left("j"); got != 0 {
		t.Fatalf("%d journals are left", got)
	}
	for _, row := range []struct {
		from int
		want string
	}{{0, "mutation 0: entity exists"}, {-60, "mutation 60: entity exists"}, {99, "mutation 0: entity exists"}, {100, "<nil>"}} {
		if _, err := s.Commit(w.Context(), tableName, inserts(row.from)); fmt.Sprint(err) != row.want {
			t.Errorf("inserts from %d on: got %v, want %s", row.from, err, row.want)
		}
	}
}
