package dynamodb_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"edgetable/adapters/store/dynamodb"
	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// writer is the only writer of some entities, in each of which it increments a number. It
// deletes some of the entities and creates them again.
type writer struct {
	t     *testing.T
	store *dynamodb.Store
	rnd   *rand.Rand
	id    int
	n     int32
	rows  [6]state
	busy  *atomic.Int64
}

// state is the state of an entity after all acknowledged writes.
type state struct {
	ticks edm.Ticks
	n     int32
	// least is the lowest value of n that a reader of the entity may find. It equals the
	// field n, except for entities that are deleted and created again.
	least atomic.Int32
}

func (w *writer) key(row int) []byte {
	return key.Append(nil, fmt.Sprint("p", w.id), fmt.Sprint("r", row))
}

// values returns properties that contain n. Sometimes the properties are large.
func (w *writer) values() edm.Properties {
	p := edm.AppendProperty(nil, "n", edm.Int32(w.n))
	if w.rnd.IntN(30) == 0 {
		for i := range 7 {
			p = edm.AppendProperty(p, fmt.Sprint("L", i), edm.Binary(make([]byte, 60_000)))
		}
	}
	return p
}

// work makes one write, and repeats the write while the store returns ErrBusy. It never
// deletes the first three entities. It deletes other entities and creates them again.
func (w *writer) work(ctx context.Context) error {
	w.n++
	first := w.rnd.IntN(len(w.rows))
	rows := []int{first}
	if w.rnd.IntN(3) == 0 {
		rows = append(rows, (first+1+w.rnd.IntN(len(w.rows)-1))%len(w.rows))
	}
	var list []table.Mutation
	for _, row := range rows {
		m := table.Mutation{Key: w.key(row), Properties: w.values(), Nonce: uint64(w.n)}
		there := w.rows[row].ticks != 0
		switch x := w.rnd.IntN(4); {
		case !there:
			m.Condition = table.Absent
		case row >= 3 && x == 0:
			m.Kind, m.Condition, m.Properties = table.Delete, table.Present, nil
		case x == 1:
			m.Kind, m.Condition = table.Merge, table.Present
		case x == 2:
			m.Condition, m.IfMatch = table.Unchanged, w.rows[row].ticks
		}
		list = append(list, m)
	}
	ticks, err := w.store.Commit(ctx, people, list)
	for ; errors.Is(err, table.ErrBusy); ticks, err = w.store.Commit(ctx, people, list) {
		w.busy.Add(1)
		_ = hundredth(ctx, 100*time.Millisecond) // if ctx has ended, the next Commit returns its error
	}
	switch {
	case errors.Is(err, table.ErrUnknown):
		for i, row := range rows {
			if err := w.learn(ctx, row, &list[i]); err != nil {
				return err
			}
		}
		return nil
	case err != nil:
		return fmt.Errorf("writer %d: %s: %w", w.id, describe(list), err)
	}
	for i, row := range rows {
		s := &w.rows[row]
		if s.ticks, s.n = ticks, w.n; list[i].Kind == table.Delete {
			s.ticks = 0
		}
		if row < 3 {
			s.least.Store(w.n)
		}
	}
	return nil
}

// learn reads an entity to find out whether a write with an unknown outcome was applied.
func (w *writer) learn(ctx context.Context, row int, m *table.Mutation) error {
	s := &w.rows[row]
	r, err := w.store.Get(ctx, people, m.Key, table.Strong)
	for errors.Is(err, table.ErrBusy) {
		r, err = w.store.Get(ctx, people, m.Key, table.Strong)
	}
	switch n, _ := r.Properties.Lookup("n"); {
	case errors.Is(err, table.ErrNoEntity) && (s.ticks == 0 || m.Kind == table.Delete):
		s.ticks = 0
	case err == nil && r.Nonce == m.Nonce:
		s.ticks, s.n = r.Timestamp, int32(n.Int())
	case err != nil || r.Timestamp != s.ticks:
		return fmt.Errorf("writer %d: entity %d is @%d, neither what it was @%d nor what was written: %w", w.id, row, r.Timestamp, s.ticks, err)
	}
	return nil
}

// TestRebucketWhileWriting checks that writers and readers can continue while the table
// moves several times. Afterwards every acknowledged write and every acknowledged delete
// must be in effect. No reader may see an older state after a newer one.
func TestRebucketWhileWriting(t *testing.T) {
	t.Parallel()
	c, name := new(instant), newTable(t)
	process := func() *dynamodb.Store {
		return open(t, dynamodb.Options{Table: name, Buckets: 3, Elapsed: c.elapsed, Sleep: hundredth})
	}
	mover := open(t, dynamodb.Options{Table: name, Elapsed: c.elapsed, Sleep: func(ctx context.Context, d time.Duration) error {
		c.pass(d) // The clocks of all processes advance, so that some calls in flight outlast their leases.
		return hundredth(ctx, d)
	}})
	create(t, mover)
	var busy atomic.Int64
	var all sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var writers []*writer
	stores := []*dynamodb.Store{process(), process()}
	for id := range 4 {
		w := &writer{t: t, store: stores[id%2], rnd: rand.New(rand.NewPCG(7, uint64(id))), id: id, busy: &busy}
		writers = append(writers, w)
		all.Go(func() {
			for ctx.Err() == nil {
				if err := w.work(t.Context()); err != nil {
					t.Error(err)
					stop()
				}
			}
		})
	}
	for _, s := range stores {
		all.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				w, row := writers[i%4], i/4%3
				least := w.rows[row].least.Load()
				r, err := s.Get(t.Context(), people, w.key(row), table.Strong)
				n, _ := r.Properties.Lookup("n")
				if least > 0 && err != nil && !errors.Is(err, table.ErrBusy) || err == nil && int32(n.Int()) < least {
					t.Errorf("entity %d of writer %d shows %d, after %d was acknowledged; %v", row, w.id, n.Int(), least, err)
					stop()
				}
			}
		})
		all.Go(func() {
			for ctx.Err() == nil {
				page, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: everything, Rows: 7})
				if err != nil && !errors.Is(err, table.ErrBusy) || len(page.Rows) > 7 {
					t.Errorf("Scan: %d entities, %v", len(page.Rows), err)
					stop()
				}
			}
		})
	}
	for _, count := range []uint16{5, 2, 3} {
		if err := mover.Rebucket(ctx, people, rebucket.Options{Buckets: count}); err != nil && ctx.Err() == nil {
			t.Errorf("to %d buckets: %v", count, err)
		}
	}
	stop()
	all.Wait()
	want := 0
	for _, w := range writers {
		for row := range w.rows {
			s := &w.rows[row]
			r, err := mover.Get(t.Context(), people, w.key(row), table.Strong)
			n, _ := r.Properties.Lookup("n")
			switch {
			case s.ticks == 0 && !errors.Is(err, table.ErrNoEntity):
				t.Errorf("entity %d of writer %d was deleted and is there @%d, %v", row, w.id, r.Timestamp, err)
			case s.ticks != 0 && (err != nil || r.Timestamp != s.ticks || int32(n.Int()) != s.n):
				t.Errorf("entity %d of writer %d is %d @%d, was acknowledged as %d @%d; %v", row, w.id, n.Int(), r.Timestamp, s.n, s.ticks, err)
			case s.ticks != 0:
				want++
			}
		}
	}
	if got := len(scanAll(t, mover, 1000)); got != want {
		t.Errorf("%d entities, want %d", got, want)
	}
	if busy.Load() == 0 {
		t.Error("no writer ever met the seal")
	}
	t.Logf("writers made %d writes and were refused %d times", writers[0].n+writers[1].n+writers[2].n+writers[3].n, busy.Load())
}
