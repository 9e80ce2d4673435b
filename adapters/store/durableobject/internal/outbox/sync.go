package outbox

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/record"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/table"
)

// The initial sync publishes all rows of an object that joins a replica.

// maxWakes is the maximum number of objects that one batch makes join the replica.
const maxWakes = 100

// addSync adds rows of the initial sync to a batch. For the record of a table, it also adds the calls that wake the
// table's buckets.
func (o *Outbox) addSync(t *turn.Turn, f *batchInFlight, batch []byte) ([]byte, []durableobject.Call) {
	var wakes []durableobject.Call
	split := ""
	for k, v := range t.Rows.Scan(o.sync, o.endOfOwn(), storage.MostRun) {
		if len(f.changes)+len(f.synced) >= maxChanges || fills(t, batch) || len(wakes) >= maxWakes {
			f.sync = bytes.Clone(k)
			break
		}
		var rec record.Record
		batch, rec = o.addRow(batch, change{key: k}, v, true)
		f.synced = append(f.synced, syncedRow{key: bytes.Clone(k)})
		if rec.IsTable() && rec.Split {
			split = rec.Key.String() // the table's objects are listed in other rows, which cannot be read during the scan
			f.sync = append(bytes.Clone(k), 0)
			break
		}
		if rec.IsTable() {
			wakes = o.addWakes(nil, f, wakes, &rec)
		}
	}
	if rec, err := record.Load(t.Rows, split); split != "" && err == nil {
		wakes = o.addWakes(t.Rows, f, wakes, &rec)
	}
	return batch, wakes
}

// addWakes adds calls to the objects of the table in the last synced row, so that they join the replica. Each call
// reads an entity that does not exist.
func (o *Outbox) addWakes(rows storage.Rows, f *batchInFlight, wakes []durableobject.Call, rec *record.Record) []durableobject.Call {
	objects, _ := record.Objects(rows, rec)
	s := &f.synced[len(f.synced)-1]
	if s.incarnation = rec.Incarnation; s.incarnation == o.awake.incarnation {
		objects = slices.DeleteFunc(objects, func(to message.Object) bool { return slices.Contains(o.awake.objects, to) })
	}
	s.wakes = objects[:min(len(objects), maxWakes-len(wakes))]
	s.more = len(s.wakes) < len(objects)
	p := message.Destination{Table: rec.Key.String(), Buckets: rec.Layout.Buckets, Location: strings.Clone(rec.Layout.Location)}
	for _, to := range s.wakes {
		p.Bucket, p.Range = to.Bucket, to.Range
		wakes = append(wakes, durableobject.Call{To: durableobject.AddressOf(&p), Message: message.Get(nil, &p, []byte{0})})
	}
	return wakes
}

// advanceSync moves the initial sync past the published rows, and reports whether the whole batch is done. The sync
// moves past the row of a table only when the objects of the table have answered. If none of these objects answers, the
// sync pauses.
func (o *Outbox) advanceSync(t *turn.Turn, f *batchInFlight, done []bool, woken []durableobject.Answer) (all bool) {
	for i, s := range f.synced {
		var joined []message.Object
		for n, to := range s.wakes {
			if n < len(woken) && isAwake(woken[n]) {
				joined = append(joined, to)
			}
		}
		if !done[i] || len(joined) < len(s.wakes) || s.more {
			if s.incarnation != o.awake.incarnation {
				o.awake = awake{incarnation: s.incarnation}
			}
			o.sync, o.awake.objects = s.key, append(o.awake.objects, joined...)
			if i == 0 && len(joined) == 0 && len(s.wakes) > 0 {
				o.restUntil = t.Now + batchTimeout
			}
			return false
		}
		woken = woken[len(s.wakes):]
	}
	o.sync = f.sync
	return true
}

// isAwake reports whether an object answered the call that wakes it: the object serves the table or a range of the
// table, or the table does not exist.
func isAwake(a durableobject.Answer) bool {
	_, err := message.Result(a.Message)
	if _, ok := errors.AsType[*message.RangedError](err); ok {
		return a.Err == nil
	}
	return a.Err == nil && (err == nil || errors.Is(err, table.ErrNoEntity) || errors.Is(err, table.ErrNoTable))
}
