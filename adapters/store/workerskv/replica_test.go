package workerskv_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/store/workerskv"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/table"
	"edgetable/testdata/memstore"
)

// primary is a store with an outbox, like a Durable Object. The outbox contains the changes of the store, in order,
// until they are published.
type primary struct {
	*memstore.Store
	w      *world
	outbox []table.Change
}

var incarnation = table.Incarnation{1}

func newPrimary(w *world, now func() edm.Ticks) *primary {
	w.Helper()
	p := &primary{Store: memstore.New(now), w: w}
	d := table.Record{Key: tableName, Incarnation: incarnation}
	if _, err := p.WriteRecord(w.Context(), d); err != nil {
		w.Fatal(err)
	}
	return p
}

// write applies a mutation to the store and adds the change to the outbox.
func (p *primary) write(m table.Mutation) {
	p.w.Helper()
	t, err := p.Commit(p.w.Context(), tableName, []table.Mutation{m})
	if r := (*table.Refused)(nil); errors.As(err, &r) {
		return
	} else if err != nil {
		p.w.Fatal(err)
	}
	c := table.Change{Key: m.Key, Ticks: t}
	if m.Kind != table.Delete {
		row, err := p.Get(p.w.Context(), tableName, m.Key, table.Strong)
		if err != nil {
			p.w.Fatal(err)
		}
		c.Row = &row
	}
	p.outbox = append(p.outbox, c)
}

// publish publishes the outbox once, as an alarm of a Durable Object does, and keeps the changes that are not done.
func (p *primary) publish(pub *workerskv.Publisher) error {
	done, err := pub.Rows(p.w.Context(), incarnation, p.outbox)
	var rest []table.Change
	for i, c := range p.outbox {
		if !done[i] {
			rest = append(rest, c)
		}
	}
	p.outbox = rest
	return err
}

// TestReplicaConverges checks that the replica shows the same entities as the primary when the outbox is empty,
// including entities with keys that are too long for names. Meanwhile publishing fails in many ways, and the Publisher
// is sometimes replaced by a new one, which knows only the outbox.
func TestReplicaConverges(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		w := newWorld(t, seed)
		now := steady()
		p := newPrimary(w, now)
		tick := func() edm.Ticks {
			w.cloud.mu.Lock()
			defer w.cloud.mu.Unlock()
			return w.cloud.time
		}
		pub := workerskv.NewPublisher(w.cloud, tick)
		d, err := p.ReadRecord(t.Context(), tableName, table.Strong)
		if err != nil {
			t.Fatal(err)
		}
		if err := pub.Record(t.Context(), d, now()); err != nil {
			t.Fatal(err)
		}
		w.cloud.fault = func(string) (error, bool) {
			if rnd.IntN(4) > 0 {
				return nil, false
			}
			return []error{errLost, workerskv.ErrRefused}[rnd.IntN(2)], rnd.IntN(2) == 0
		}
		long := strings.Repeat("l", 470)
		rows := []string{"a", "b", long, long + "a", long + "zz", long + strings.Repeat("m", 100), long + strings.Repeat("m", 101),
			long + strings.Repeat("\uffe0", 100), strings.Repeat("\uffe0", 300), strings.Repeat("l", 469) + "z", "z"}
		for range 300 {
			m := number([]string{"p", "q"}[rnd.IntN(2)], rows[rnd.IntN(len(rows))], int32(rnd.IntN(100)))
			if rnd.IntN(4) == 0 {
				m = table.Mutation{Key: m.Key, Kind: table.Delete, Condition: table.Present}
			}
			if rnd.IntN(10) == 0 {
				m.Properties = edm.AppendProperty(m.Properties, "large", edm.Binary(make([]byte, 2000)))
			}
			p.write(m)
			if rnd.IntN(5) == 0 {
				if err := p.publish(pub); err != nil && !errors.Is(err, errLost) {
					t.Fatalf("seed %d: %v", seed, err)
				}
				w.wait(time.Duration(rnd.Int64N(int64(2 * time.Second))))
			}
			if rnd.IntN(20) == 0 {
				pub = workerskv.NewPublisher(w.cloud, tick)
			}
		}
		for runs := 0; len(p.outbox) > 0; runs++ {
			if runs == 100 {
				t.Fatalf("seed %d: the outbox is never empty: %d changes", seed, len(p.outbox))
			}
			_ = p.publish(pub)
			w.wait(time.Second)
		}
		w.settle()
		replica := workerskv.NewReplica(w.cloud, p.Store, 20)
		filter, err := odata.Parse("n lt 50")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []key.Range{{}, partition("p"), {Start: key.Append(nil, "p", "b")},
			{Start: key.Append(nil, "p", long+strings.Repeat("m", 100)), End: key.Append(nil, "q", "b")},
			{Start: key.Append(nil, "p", long+"a"), End: key.Append(nil, "p", long+strings.Repeat("m", 101))},
			{Start: key.Append(nil, "p", rows[6]), End: append(key.Append(nil, "p", rows[6]), 1)},
		} {
			for limit := range 5 {
				for _, f := range []*odata.Filter{nil, filter} {
					request := table.ScanRequest{Ranges: []key.Range{r}, Rows: limit, Filter: f, ScanBytes: limit * 600}
					if got, want := follow(t, replica, request), follow(t, p.Store, request); got != want {
						t.Fatalf("seed %d, %.60q, %d a page:\n got %s\nwant %s", seed, r, limit, got, want)
					}
				}
			}
		}
		for _, row := range rows {
			k := key.Append(nil, "p", row)
			_, want := p.Get(t.Context(), tableName, k, table.Strong)
			if _, got := replica.Get(t.Context(), tableName, k, table.Eventual); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("seed %d: Get(%.20q…) got %v, want %v", seed, row, got, want)
			}
		}
		w.cloud.fault = nil
		for more := true; more; {
			if more, err = pub.Purge(t.Context(), incarnation, "source/", 50); err != nil {
				t.Fatal(err)
			}
			w.settle()
		}
		if left := w.cloud.left("e"); left != 0 {
			t.Errorf("seed %d: %d names are left of a life that was purged", seed, left)
		}
	}
}

// TestReader checks that a Replica refuses writes, and that a Reader reads from the Replica with eventual consistency.
func TestReader(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.cloud.stale = false
	now := steady()
	p := newPrimary(w, now)
	pub := workerskv.NewPublisher(w.cloud, func() edm.Ticks { return w.cloud.time })
	d, err := p.ReadRecord(t.Context(), tableName, table.Strong)
	if err != nil {
		t.Fatal(err)
	}
	replica := workerskv.NewReplica(w.cloud, nil, 0)
	r := workerskv.Reader{Store: p.Store, Replica: replica}
	p.write(number("p", "r", 1))
	k := key.Append(nil, "p", "r")
	get := func(c table.Consistency) string {
		_, err := r.Get(t.Context(), tableName, k, c)
		page, scanErr := r.Scan(t.Context(), tableName, table.ScanRequest{Ranges: []key.Range{{}}, Consistency: c})
		return fmt.Sprint(err, " ", len(page.Rows), " ", scanErr)
	}
	steps := []struct {
		what string
		do   func() error
		want string
	}{
		{"nothing is published", func() error { return nil }, "no such table 0 no such table"},
		{"the record is", func() error { return pub.Record(t.Context(), d, now()) }, "no such entity 0 <nil>"},
		{"all is", func() error { return p.publish(pub) }, "<nil> 1 <nil>"},
		{"the table is gone", func() error { w.wait(time.Second); return pub.RemoveRecord(t.Context(), tableName.String()) }, "no such table 0 no such table"},
	}
	for _, s := range steps {
		if err := s.do(); err != nil {
			if !workerskv.IsTooSoon(err) {
				t.Fatalf("%s: %v", s.what, err)
			}
			t.Fatalf("%s: the name rests", s.what)
		}
		if got := get(table.Eventual); got != s.want {
			t.Errorf("%s: got %s, want %s", s.what, got, s.want)
		}
		if got := get(table.Strong); got != "<nil> 1 <nil>" {
			t.Errorf("%s: a strong read got %s", s.what, got)
		}
	}
	// Check the same for a Replica that can also read from the primary.
	whole := workerskv.Reader{Store: p.Store, Replica: workerskv.NewReplica(w.cloud, p.Store, 0)}
	if _, err := whole.Get(t.Context(), tableName, k, table.Eventual); err != nil {
		t.Errorf("a table that is not published: %v", err)
	}
	if page, err := whole.Scan(t.Context(), tableName, table.ScanRequest{Ranges: []key.Range{{}}, Consistency: table.Eventual}); err != nil || len(page.Rows) != 1 {
		t.Errorf("a table that is not published has %d rows: %v", len(page.Rows), err)
	}
	if _, err := replica.Commit(t.Context(), tableName, []table.Mutation{number("p", "r", 2)}); !errors.Is(err, table.ErrUnsupported) {
		t.Errorf("Commit got %v", err)
	}
	if _, err := replica.WriteRecord(t.Context(), d); !errors.Is(err, table.ErrUnsupported) {
		t.Errorf("WriteRecord got %v", err)
	}
	if err := replica.Drop(t.Context(), tableName, d.Revision); !errors.Is(err, table.ErrUnsupported) {
		t.Errorf("Drop got %v", err)
	}
	long := key.Append(nil, strings.Repeat("k", 500), "")
	if _, err := replica.Get(t.Context(), tableName, long, table.Eventual); !errors.Is(err, table.ErrKeyTooLong) {
		t.Errorf("Get of what no name can hold, without a primary: %v", err)
	}
}

// TestSynced checks that Synced returns the earliest time that any source has recorded.
func TestSynced(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.cloud.stale = false
	pub := workerskv.NewPublisher(w.cloud, func() edm.Ticks { return w.cloud.time })
	replica := workerskv.NewReplica(w.cloud, nil, 0)
	want := func(prefix string, ticks edm.Ticks) {
		t.Helper()
		got, ok, err := replica.Synced(t.Context(), prefix)
		if err != nil || ok != (ticks != 0) || got != ticks {
			t.Errorf("%s: got %d, %v, %v, want %d", prefix, got, ok, err, ticks)
		}
	}
	want("acct/", 0)
	for source, ticks := range map[string]edm.Ticks{"acct/a/0": 30, "acct/a/1": 20, "acct/b/0": 25, "acct2/c/0": 10} {
		if err := pub.Synced(t.Context(), source, ticks); err != nil {
			t.Fatal(err)
		}
	}
	want("acct/", 20)
	want("acct2/", 10)
	if err := pub.Forget(t.Context(), "acct/a/1"); !workerskv.IsTooSoon(err) {
		t.Errorf("a name that was just written rests; got %v", err)
	}
	w.wait(time.Second)
	if err := pub.Forget(t.Context(), "acct/a/1"); err != nil {
		t.Fatal(err)
	}
	want("acct/", 25)
}
