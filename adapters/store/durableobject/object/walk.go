package object

import (
	"bytes"
	"errors"
	"strings"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/table"
)

// maxWakes is how many buckets are woken at a time, unless the last of their tables
// has more: its buckets are woken together, at most durableobject.MaxBuckets.
const maxWakes = 100

// walked is a row that is published whether it changed or not. Of the record of a
// table, the buckets are woken by so many calls, so that they publish theirs; those
// before the first were awake already.
type walked struct {
	key   []byte
	life  table.Incarnation
	first int
	wakes int
}

// awake is how many buckets of a table are awake that the walk stopped at.
type awake struct {
	life  table.Incarnation
	count int
}

// addWalk adds rows to a batch that may not have changed. Tables whose records
// are among them have their buckets woken: they join.
func (h *handling) addWalk(f *flight, batch []byte) ([]byte, []durableobject.Call) {
	var wakes []durableobject.Call
	for k, v := range h.rows.Scan(h.outbox.walk, behindRows, mostRun) {
		if len(f.changes)+len(f.walked) >= maxChanges || h.fills(batch) || len(wakes) >= maxWakes {
			f.walk = bytes.Clone(k)
			break
		}
		w := walked{key: bytes.Clone(k)}
		var rec record
		batch, rec = h.addRow(batch, change{key: w.key}, v, true)
		if rec.isTable() {
			if w.life = rec.Incarnation; w.life == h.outbox.awake.life {
				w.first = h.outbox.awake.count
			}
			before := len(wakes)
			wakes = appendWakes(wakes, &rec, w.first)
			w.wakes = len(wakes) - before
		}
		f.walked = append(f.walked, w)
	}
	return batch, wakes
}

// appendWakes appends a call of each bucket of a table from the first: a read of
// nothing.
func appendWakes(wakes []durableobject.Call, rec *record, first int) []durableobject.Call {
	p := message.Place{Table: rec.Key.String(), Buckets: rec.home.Buckets, Location: strings.Clone(rec.home.Location)}
	for n := first; n < int(p.Buckets); n++ {
		p.Bucket = uint16(n)
		wakes = append(wakes, durableobject.Call{
			Object:  durableobject.Bucket(p.Table, p.Buckets, p.Bucket, p.Location),
			Message: message.Get(nil, &p, []byte{0}),
		})
	}
	return wakes
}

// walkOn moves the walk behind the rows that are published and whose buckets are
// awake. It reports whether these are all that were handed out. Where a bucket does
// not wake up, and none before it did, the walk rests.
func (h *handling) walkOn(f *flight, done []bool, woken []durableobject.Answer) (all bool) {
	o := &h.outbox
	for i, w := range f.walked {
		n := 0
		for n < w.wakes && n < len(woken) && wakeful(woken[n]) {
			n++
		}
		if !done[i] || n < w.wakes {
			if o.walk, o.awake = w.key, (awake{w.life, w.first + n}); i == 0 && n == 0 && w.wakes > 0 {
				o.rests = h.now() + lease
			}
			return false
		}
		woken = woken[n:]
	}
	o.walk = f.walk
	return true
}

// wakeful reports whether a bucket answered a call that only was to wake it: it
// serves the table, or there is no such table.
func wakeful(a durableobject.Answer) bool {
	_, err := message.Result(a.Message)
	return a.Err == nil && (err == nil || errors.Is(err, table.ErrNoEntity) || errors.Is(err, table.ErrNoTable))
}
