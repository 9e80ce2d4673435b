package durableobject_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"edgetable/adapters/store/durableobject"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/storetest"
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

func create(t testing.TB, s table.Store, incarnation byte) table.Revision {
	t.Helper()
	d := table.Record{Key: tableKey, Incarnation: table.Incarnation{11: incarnation}}
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

// pausing is a cloud that calls a function when the Store pauses between two attempts.
type pausing struct {
	*cloud
	pause func()
}

func (p pausing) Pause(context.Context, time.Duration) { p.pause() }

// wake reads an entity that does not exist, and so wakes the table's object.
func (c *cloud) wake(k *clock) {
	c.t.Helper()
	if got := text(c.store(k.now, nil), "none"); got != table.ErrNoEntity.Error() && got != table.ErrNoTable.Error() {
		c.t.Fatalf("Get: %s", got)
	}
}

var everything = table.ScanRequest{Ranges: []key.Range{{}}}

// TestOutcomes checks that no reported outcome is wrong. There is one writer; messages and replies are
// lost or late; objects restart; the clock jumps within its bounds.
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
	// The list contains messages whose senders no longer wait. These messages will still arrive, unless the
	// object ends before.
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
			restart() // the restart is between the write and its reply
		}
		return f
	}
	faults := c.network
	w := storetest.OneWriter{
		Store: s, Table: tableKey, Rand: n,
		Before: func() { c.network = faults },
		Settle: func() {
			for _, call := range late {
				c.handle(t.Context(), call)
			}
			late, c.network = late[:0], nil
		},
	}
	w.Run(t, 300)
}
