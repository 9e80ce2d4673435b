package object

import (
	"bytes"
	"errors"
	"strings"

	"edgetable/adapters/durableobject"
	"edgetable/adapters/durableobject/internal/message"
	"edgetable/core/table"
)

// maxWakes is how many buckets are woken at a time, unless the last of their tables
// has more: its buckets are woken together, at most durableobject.MaxBuckets.
const maxWakes = 100

// walked is a row that is published whether it changed or not. Of the record of a
// table, the buckets are woken by so many calls, so that they publish theirs.
type walked struct {
	key   []byte
	wakes int
}

// addWalk adds rows to a batch that may not have changed. Tables whose records
// are among them have their buckets woken: they join.
func (h *handling) addWalk(f *flight, batch []byte) ([]byte, []durableobject.Call) {
	var wakes []durableobject.Call
	var key []byte
	for k, v := range h.rows.Scan(h.outbox.walk, behindRows, mostRun) {
		if len(f.changes)+len(f.walked) >= maxChanges || h.fills(batch) || len(wakes) >= maxWakes {
			f.walk = bytes.Clone(k)
			break
		}
		key = bytes.Clone(k)
		var rec record
		before := len(wakes)
		batch, rec = h.addRow(batch, change{key: key}, v, true)
		if rec.isTable() {
			wakes = appendWakes(wakes, &rec)
		}
		f.walked = append(f.walked, walked{key, len(wakes) - before})
	}
	return batch, wakes
}

// appendWakes appends a call of each bucket of a table: a read of nothing.
func appendWakes(wakes []durableobject.Call, rec *record) []durableobject.Call {
	p := message.Place{Table: strings.Clone(rec.Key), Buckets: rec.home.Buckets, Location: strings.Clone(rec.home.Location)}
	for n := range rec.home.Buckets {
		p.Bucket = n
		wakes = append(wakes, durableobject.Call{
			Object:  durableobject.Bucket(p.Table, p.Buckets, n, p.Location),
			Message: message.Get(nil, &p, []byte{0}),
		})
	}
	return wakes
}

// walkOn moves the walk behind the rows that are published. It reports whether
// these are all that were handed out.
func (h *handling) walkOn(f *flight, done []bool, woken []durableobject.Answer) (all bool) {
	for i, w := range f.walked {
		ok := done[i] && w.wakes <= len(woken)
		for n := 0; ok && n < w.wakes; n++ {
			_, err := message.Result(woken[n].Message)
			ok = woken[n].Err == nil && wakeful(err)
		}
		if !ok {
			h.outbox.walk = w.key
			return false
		}
		woken = woken[w.wakes:]
	}
	h.outbox.walk = f.walk
	return true
}

// wakeful reports whether a bucket answered a call that only was to wake it: it
// serves the table, or there is no such table.
func wakeful(err error) bool {
	return err == nil || errors.Is(err, table.ErrNoEntity) || errors.Is(err, table.ErrNoTable)
}
