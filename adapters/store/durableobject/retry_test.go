package durableobject_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"edgetable/adapters/store/durableobject"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// clock is a clock that the test sets.
type clock struct{ t edm.Ticks }

func newClock() *clock {
	return &clock{edm.TicksOf(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))}
}

func (c *clock) now() edm.Ticks { return c.t }

func (c *clock) pass(d time.Duration) { c.t += edm.Ticks(d / 100) }

var tableKey = acct("people")

func acct(name string) table.RecordKey { return table.RecordKey{Account: "acct", Table: name} }

// tableText is the key of the table in messages and in names of objects.
const tableText = "table/acct/people"

func create(t testing.TB, s table.Store, life byte) table.Revision {
	t.Helper()
	d := table.Record{Key: tableKey, Incarnation: table.Incarnation{11: life}}
	r, err := s.WriteRecord(t.Context(), d)
	if err != nil {
		t.Fatalf("WriteRecord: %v", err)
	}
	return r
}

func at(partition, row string) []byte { return key.Append(nil, partition, row) }

func put(row, text string) table.Mutation {
	return table.Mutation{Key: at("p", row), Nonce: 1, Properties: edm.AppendProperty(nil, "v", edm.String(text))}
}

func insert(row, text string) table.Mutation {
	m := put(row, text)
	m.Condition = table.Absent
	return m
}

// text returns the property of an entity, or the text of the error.
func text(s table.Store, row string) string {
	r, err := s.Get(context.Background(), tableKey, at("p", row), table.Strong)
	if err != nil {
		return err.Error()
	}
	v, _ := r.Properties.Lookup("v")
	return v.Text()
}

// pausing is a cloud that passes time and runs a function between attempts.
type pausing struct {
	*cloud
	pause func()
}

func (p pausing) Pause(context.Context, time.Duration) { p.pause() }

// TestRetry loses the first reply of an insert, and changes something before
// the insert is sent again.
func TestRetry(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		why   string
		up    time.Duration // how long the object is awake before the insert
		lost  fate          // of the first attempt
		pause func(c *cloud, k *clock)
		want  error
		shows string
	}{
		{"the object remembers that it was done", time.Hour, fate{err: durableobject.ErrLost}, nil, nil, "A"},
		{"the object knows that it was not done", time.Hour, fate{lose: true, err: durableobject.ErrLost}, nil, nil, "A"},
		{"the message never left, and the object is new", 0, fate{lose: true, err: durableobject.ErrUnreachable}, nil, nil, "A"},
		{"an error of another kind may be anything", time.Hour, fate{err: errors.New("network")}, nil, nil, "A"},
		{"the object is new, and remembers", 0, fate{err: durableobject.ErrLost}, nil, nil, "A"},
		{"the object is new, and cannot know", 0, fate{lose: true, err: durableobject.ErrLost}, nil, table.ErrUnknown, "no such entity"},
		{"it restarted and forgot that it was done", time.Hour, fate{err: durableobject.ErrLost},
			func(c *cloud, _ *clock) { c.evict() }, table.ErrUnknown, "A"},
		{"it restarted long after", time.Hour, fate{err: durableobject.ErrLost},
			func(c *cloud, k *clock) { k.pass(10 * time.Second); c.evict(); c.wake(k); k.pass(10 * time.Second) }, table.ErrUnknown, "A"},
		{"it remembers for a minute", time.Hour, fate{err: durableobject.ErrLost},
			func(_ *cloud, k *clock) { k.pass(59 * time.Second) }, nil, "A"},
		{"and forgets", time.Hour, fate{err: durableobject.ErrLost},
			func(_ *cloud, k *clock) { k.pass(2 * time.Minute) }, table.ErrUnknown, "A"},
		{"the clock went back", time.Hour, fate{err: durableobject.ErrLost},
			func(_ *cloud, k *clock) { k.pass(-30 * time.Minute) }, nil, "A"},
		{"the clock went back and it restarted", time.Hour, fate{err: durableobject.ErrLost},
			func(c *cloud, k *clock) { k.pass(-30 * time.Minute); c.evict() }, table.ErrUnknown, "A"},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			k := newClock()
			c := newCloud(t, k.now)
			s := c.store(k.now, func(o *durableobject.Options) {
				o.Caller = pausing{c, func() {
					k.pass(20 * time.Millisecond)
					if row.pause != nil {
						row.pause(c, k)
					}
				}}
			})
			create(t, s, 1)
			c.wake(k)
			k.pass(row.up)
			first := true
			c.network = func(durableobject.Call) (f fate) {
				if first {
					first, f = false, row.lost
				}
				return f
			}
			_, err := s.Commit(t.Context(), tableKey, []table.Mutation{insert("r", "A")})
			if !errors.Is(err, row.want) {
				t.Errorf("Commit got %v, want %v", err, row.want)
			}
			if got := text(s, "r"); got != row.shows {
				t.Errorf("the entity is %q, want %q", got, row.shows)
			}
		})
	}
}

// wake wakes the table's object.
func (c *cloud) wake(k *clock) {
	c.t.Helper()
	if got := text(c.store(k.now, nil), "none"); got != table.ErrNoEntity.Error() && got != table.ErrNoTable.Error() {
		c.t.Fatalf("Get: %s", got)
	}
}

// TestGivingUp checks the outcomes of writes that are never handled.
func TestGivingUp(t *testing.T) {
	t.Parallel()
	lost, unreached := durableobject.ErrLost, durableobject.ErrUnreachable
	failed := &durableobject.FailedError{Reason: "the disk is full"}
	for _, row := range []struct {
		why   string
		fates []error // errors of the attempts, which are all not handled; the last one repeats
		end   int     // the attempt at which the deadline passes; 0: never
		get   error
		write error
		calls int
	}{
		{"overloaded is busy, and not tried again", []error{durableobject.ErrOverloaded}, 0, table.ErrBusy, table.ErrBusy, 1},
		{"unreachable is busy, as nothing was done", []error{unreached}, 0, table.ErrBusy, table.ErrBusy, 3},
		{"lost is unknown to a write", []error{lost}, 0, table.ErrBusy, table.ErrUnknown, 3},
		{"lost, then overloaded: the first may have been done", []error{lost, durableobject.ErrOverloaded}, 0, table.ErrBusy, table.ErrUnknown, 2},
		{"lost, then unreachable", []error{lost, unreached}, 0, table.ErrBusy, table.ErrUnknown, 3},
		{"failed would fail again", []error{failed}, 0, failed, failed, 1},
		{"lost, then failed: the first may have been done", []error{lost, failed}, 0, failed, table.ErrUnknown, 2},
		{"the deadline passes", []error{unreached}, 2, context.DeadlineExceeded, context.DeadlineExceeded, 2},
		{"the deadline passes after a loss", []error{lost, unreached}, 2, context.DeadlineExceeded, table.ErrUnknown, 2},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			k := newClock()
			c := newCloud(t, k.now)
			s := c.store(k.now, nil)
			create(t, s, 1)
			ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(time.Hour))
			defer cancel()
			deadline, _ := ctx.Deadline()
			for what, do := range map[string]func() error{
				"Get":    func() error { _, err := s.Get(ctx, tableKey, at("p", "r"), table.Strong); return err },
				"Scan":   func() error { _, err := s.Scan(ctx, tableKey, everything); return err },
				"Commit": func() error { _, err := s.Commit(ctx, tableKey, []table.Mutation{put("r", "A")}); return err },
				"Drop":   func() error { return s.Drop(ctx, tableKey, "x") },
			} {
				k.t = edm.TicksOf(deadline) - 1
				calls := 0
				c.network = func(durableobject.Call) fate {
					if calls++; calls == row.end {
						k.pass(time.Second)
					}
					return fate{lose: true, err: row.fates[min(calls, len(row.fates))-1]}
				}
				want := row.write
				if what == "Get" || what == "Scan" {
					want = row.get
				}
				if err := do(); !errors.Is(err, want) || calls != row.calls {
					t.Errorf("%s: got %v after %d calls, want %v after %d", what, err, calls, want, row.calls)
				}
			}
		})
	}
}

var everything = table.ScanRequest{Ranges: []key.Range{{}}}

// TestOutcomes checks that no reported outcome is wrong, with one writer, lost or
// late messages and replies, objects that restart, and a clock that jumps within
// its bounds. The writer inserts only entities that do not exist, deletes only
// existing ones, and updates states that it has seen, so any refusal would mean a
// write that was applied twice, or one that was confirmed and not applied.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			outcomes(t, seed)
		})
	}
}

func outcomes(t *testing.T, seed uint64) {
	k := newClock()
	n := chance(seed)
	c := newCloud(t, func() edm.Ticks { k.pass(time.Duration(n(3)) * time.Millisecond); return k.t })
	s := c.store(c.now, func(o *durableobject.Options) { o.Attempts = 2 + n(3) })
	create(t, s, 1)
	// late holds messages whose senders gave up, and that arrive later. They
	// wait at the object, and end with it.
	var late []durableobject.Call
	restart := func() {
		late = late[:0]
		c.evict()
	}
	c.network = func(call durableobject.Call) fate {
		for len(late) > 0 && n(4) == 0 {
			i := n(len(late))
			c.handle(t.Context(), late[i])
			late = append(late[:i], late[i+1:]...)
		}
		switch n(40) {
		case 0:
			restart()
		case 1:
			k.pass(time.Duration(n(5000)) * time.Millisecond)
		case 2:
			k.pass(-time.Duration(n(400)) * time.Millisecond)
		}
		f := fate{}
		switch n(6) {
		case 0:
			f = fate{lose: true, err: durableobject.ErrLost}
		case 1:
			f = fate{err: durableobject.ErrLost}
		case 2:
			late = append(late, call)
			f = fate{lose: true, err: durableobject.ErrLost}
		}
		if n(20) == 0 {
			restart() // between the write and its reply
		}
		return f
	}
	state := make(map[string]edm.Ticks) // 0: no entity
	known, unknown := 0, 0
	for i := range 300 {
		row := string(rune('a' + n(3)))
		m := put(row, fmt.Sprint(i))
		switch ticks := state[row]; {
		case ticks == 0:
			m.Condition = table.Absent
		case n(2) == 0:
			m = table.Mutation{Key: m.Key, Kind: table.Delete, Condition: table.Present}
		default:
			m.Condition, m.IfMatch = table.Unchanged, ticks
		}
		ticks, err := s.Commit(t.Context(), tableKey, []table.Mutation{m})
		switch {
		case err == nil && m.Kind == table.Delete:
			known++
			state[row] = 0
		case err == nil:
			known++
			state[row] = ticks
		case errors.Is(err, table.ErrBusy):
		case errors.Is(err, table.ErrUnknown):
			// The write may still arrive: wait until nothing is on its way.
			unknown++
			for _, call := range late {
				c.handle(t.Context(), call)
			}
			late = late[:0]
			faults := c.network
			c.network = nil
			r, err := s.Get(t.Context(), tableKey, m.Key, table.Strong)
			c.network = faults
			switch {
			case err == nil:
				state[row] = r.Timestamp
			case errors.Is(err, table.ErrNoEntity):
				state[row] = 0
			default:
				t.Fatal(err)
			}
		default:
			t.Fatalf("write %d of %s, kind %d if %d: %v", i, row, m.Kind, m.Condition, err)
		}
	}
	if known < 50 || unknown == 0 {
		t.Errorf("of 300 writes the outcomes of %d were known, of %d unknown: the test proves nothing", known, unknown)
	}
}
