package durableobject_test

import (
	"edgetable/adapters/store/durableobject/internal/rowstest"
	"errors"
	"testing"
	"time"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/engine"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// bucket is the object of one bucket of the table.
type bucket struct {
	testing.TB
	clock *clock
	rows  rowstest.Rows
	*engine.Engine
	life table.Incarnation
	high edm.Ticks // floor of the Timestamps of the next incarnation
}

func newBucket(t testing.TB) *bucket {
	b := &bucket{TB: t, clock: newClock(), life: table.Incarnation{1}}
	b.restart()
	return b
}

func (b *bucket) restart() {
	b.Engine = engine.New(engine.Options{Now: b.clock.now, Rand: func() uint64 { return uint64(b.clock.t) }})
}

// send sends a message and returns its result; the catalog answers at once.
func (b *bucket) send(m []byte) (message.Reader, error) {
	b.Helper()
	var resume *engine.Resume
	for range 3 {
		b.rows.Begin()
		step := b.Handle(&b.rows, m, resume, nil)
		if step.Rollback {
			b.rows.Rollback()
		}
		if len(step.Calls) == 0 {
			return message.Result(step.Answer)
		}
		located := message.AppendLocated(nil, &message.Located{Incarnation: b.life, Home: message.Home{Buckets: 1}, Floor: b.high})
		resume = &engine.Resume{State: step.State, Answers: []durableobject.Answer{{Message: located}}}
	}
	b.Fatal("the object asks for ever")
	return message.Reader{}, nil
}

var home = message.Place{Table: tableText, Buckets: 1}

func (b *bucket) commit(a message.Attempt, m ...table.Mutation) error {
	b.Helper()
	c := message.Commit(nil, &home, m)
	message.Stamp(c, a)
	_, err := b.send(c)
	return err
}

func (b *bucket) expect(what string, got, want error) {
	b.Helper()
	if !errors.Is(got, want) {
		b.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func (b *bucket) there() bool {
	b.Helper()
	_, err := b.send(message.Get(nil, &home, at("p", "r")))
	if err != nil && !errors.Is(err, table.ErrNoEntity) {
		b.Fatal(err)
	}
	return err == nil
}

// TestRefusedForGood checks that a late attempt of a write is not applied if a
// later attempt was refused.
func TestRefusedForGood(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	b.clock.pass(time.Minute)
	b.expect("another's insert", b.commit(message.Attempt{ID: 1}, insert("r", "B")), nil)
	sent := b.clock.t
	b.clock.pass(time.Second)
	again := message.Attempt{ID: 2, Again: true, First: sent, Age: b.clock.t - sent}
	b.expect("the second attempt", b.commit(again, insert("r", "A")), table.ErrExists)
	gone := table.Mutation{Key: at("p", "r"), Kind: table.Delete, Condition: table.Present}
	b.expect("another's delete", b.commit(message.Attempt{ID: 3}, gone), nil)
	b.expect("the first attempt", b.commit(message.Attempt{ID: 2, First: sent}, insert("r", "A")), table.ErrExists)
	if b.there() {
		t.Error("a refused write was applied")
	}
}

// TestLateAttempt checks that an attempt is not applied if it arrives so late that
// the object may have forgotten the answer to the next attempt: that attempt may
// have been applied, followed by other writes.
func TestLateAttempt(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	b.clock.pass(10 * time.Second)
	sent := b.clock.t
	b.clock.pass(time.Second)
	again := message.Attempt{ID: 1, Again: true, First: sent, Age: b.clock.t - sent}
	b.expect("the second attempt", b.commit(again, put("r", "A")), nil)
	b.expect("another's write", b.commit(message.Attempt{ID: 2, First: b.clock.t}, put("r", "B")), nil)
	b.clock.pass(2 * time.Minute)
	b.expect("a write in time", b.commit(message.Attempt{ID: 3, First: b.clock.t}, put("s", "C")), nil)
	b.expect("the first attempt", b.commit(message.Attempt{ID: 1, First: sent}, put("r", "A")), table.ErrUnknown)
	r, err := b.send(message.Get(nil, &home, at("p", "r")))
	if err != nil {
		t.Fatal(err)
	}
	row, err := table.ParseRow(at("p", "r"), r.Rest())
	if v, _ := row.Properties.Lookup("v"); err != nil || v.Text() != "B" {
		t.Errorf("the entity is %q, %v", v.Text(), err)
	}
}

// TestUndone rolls back a batch that was the first message of its table: the
// object forgets the table, and the next message learns it again.
func TestUndone(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	b.expect("a batch that is refused", b.commit(message.Attempt{ID: 1}, insert("r", "A"), insert("r", "A")), table.ErrExists)
	if len(b.rows.Rows) != 0 {
		t.Errorf("%d rows are left", len(b.rows.Rows))
	}
	b.expect("another", b.commit(message.Attempt{ID: 2}, insert("r", "A")), nil)
	b.restart()
	b.rows.Begin()
	if step := b.Handle(&b.rows, message.Get(nil, &home, at("p", "r")), nil, nil); len(step.Calls) > 0 {
		t.Error("the object did not store its table")
	}
}

// TestKnown checks in which cases an object knows that a repeated write was
// never applied.
func TestKnown(t *testing.T) {
	t.Parallel()
	const second = edm.TicksPerSecond
	for _, row := range []struct {
		why        string
		up         edm.Ticks // how long the object is awake when the attempt arrives
		first, age edm.Ticks // since the object woke up, by the sender's clock; and the age that the sender gives
		want       error
	}{
		{"it was up before", 100 * second, 98 * second, 2 * second, nil},
		{"it woke up in between", 100 * second, -second, 101 * second, table.ErrUnknown},
		{"it woke up just before", 100 * second, second / 2, 99 * second, table.ErrUnknown},
		{"the attempt waited for the object after it was sent", 100 * second, -second, 2 * second, table.ErrUnknown},
		{"the sender's clock is an hour ahead, and it woke up in between", 3 * second, 3600 * second, 5 * second, table.ErrUnknown},
		{"the sender's clock is an hour ahead, and it was up", 100 * second, 3600 * second, 5 * second, nil},
		{"the sender's clock is an hour behind: better safe", 100 * second, -3600 * second, 5 * second, table.ErrUnknown},
	} {
		b := newBucket(t)
		woke := b.clock.t
		b.clock.t += row.up
		a := message.Attempt{ID: 1, Again: true, First: woke + row.first, Age: row.age}
		b.expect(row.why, b.commit(a, insert("r", "A")), row.want)
		if b.there() != (row.want == nil) {
			t.Errorf("%s: the entity exists: %v", row.why, row.want != nil)
		}
	}
}

// TestManyWrites checks that the memory of answers is bounded, and that the
// outcome of a forgotten write is unknown.
func TestManyWrites(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	b.clock.pass(time.Hour)
	const many = 9000
	first := b.clock.t
	for i := range many {
		b.clock.t += edm.TicksPerSecond / 1000
		b.expect("write", b.commit(message.Attempt{ID: uint64(i) + 1, First: b.clock.t}, put("r", "A")), nil)
	}
	again := message.Attempt{ID: 1, Again: true, First: first, Age: b.clock.t - first}
	b.expect("the oldest again", b.commit(again, put("r", "A")), table.ErrUnknown)
	again.ID = many
	b.expect("the latest again", b.commit(again, insert("r", "A")), nil)
}

// TestLateOrders sends late messages of a catalog about a deletion that ended
// long ago.
func TestLateOrders(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	old := b.life
	b.expect("write", b.commit(message.Attempt{ID: 1}, put("r", "A")), nil)
	r, err := b.send(message.Drop(nil, old))
	b.expect("drop", err, nil)
	high := r.Ticks()
	if high < b.clock.t {
		t.Errorf("high water %d, below the clock %d", high, b.clock.t)
	}
	b.restart()
	_, err = b.send(message.Forget(nil, high-1))
	b.expect("a forget of an earlier life", err, nil)
	r, err = b.send(message.Drop(nil, old))
	b.expect("drop again", err, nil)
	if again := r.Ticks(); again != high {
		t.Errorf("dropped again, high water %d, want %d", again, high)
	}
	_, err = b.send(message.Forget(nil, high))
	b.expect("forget", err, nil)
	if len(b.rows.Rows) != 0 {
		t.Errorf("%d rows are left", len(b.rows.Rows))
	}

	b.life, b.high = table.Incarnation{2}, high
	b.expect("write in the next life", b.commit(message.Attempt{ID: 2}, put("r", "A")), nil)
	_, err = b.send(message.Drop(nil, old))
	b.expect("a late drop", err, nil)
	_, err = b.send(message.Forget(nil, 1<<62))
	b.expect("a late forget", err, nil)
	b.restart()
	if !b.there() {
		t.Error("a late drop of an earlier incarnation removed an entity")
	}
}

// TestRowLimit checks that a row too large for SQLite is refused before it is
// written, also if core permits it.
func TestRowLimit(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	m := put("r", "")
	for len(m.Properties) < 2_000_000 {
		m.Properties = edm.AppendProperty(m.Properties, "v", edm.Binary(make([]byte, 64<<10)))
	}
	err := b.commit(message.Attempt{ID: 1}, put("s", ""), m)
	var limit *table.Error
	if !errors.As(err, &limit) || limit.Code != table.EntityTooLarge || len(b.rows.Rows) != 0 {
		t.Errorf("got %v, and %d rows, want %s and none", err, len(b.rows.Rows), table.EntityTooLarge)
	}
}
