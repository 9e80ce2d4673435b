// Package telling makes all objects of a table read the declared options of the table from the catalog.
package telling

import (
	"cmp"
	"encoding/binary"
	"slices"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/record"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/table"
)

// maxObjects is the maximum number of objects that one message calls. A deletion has the same limit.
const maxObjects = 20

// progress says which objects of a table have read its declared options. An object that is created later reads the
// options by itself.
type progress struct {
	upto  uint64 // all objects whose number is below upto have read the options
	dirty bool   // whether an object below upto still stores entities that expired under a withdrawn rule
}

func numberOf(o message.Object) uint64 { return uint64(o.Bucket)<<32 | uint64(o.Range) }

func read(v []byte) (p progress) {
	if len(v) == 9 {
		p.upto, p.dirty = binary.BigEndian.Uint64(v), v[8] != 0
	}
	return p
}

func (p progress) append() []byte {
	v := append(binary.BigEndian.AppendUint64(nil, p.upto), 0)
	if p.dirty {
		v[8] = 1
	}
	return v
}

// Step makes some of a table's objects read its declared options. The result ok reports whether all objects have read
// them. The result expired reports whether entities remain that expired under a withdrawn rule.
//
// If ok is false, the caller must return the third result. Each step can be repeated, even by another message.
func Step(t *turn.Turn, rec *record.Record) (ok, expired bool, step turn.Step) {
	name := rec.Key.String()
	row := storage.RowOf(storage.SpaceDeleting, name)
	v, _ := t.Rows.Get(row)
	p := read(v)
	list, _ := record.Objects(t.Rows, rec)
	slices.SortFunc(list, func(a, b message.Object) int { return cmp.Compare(numberOf(a), numberOf(b)) })
	list = slices.DeleteFunc(list, func(o message.Object) bool { return numberOf(o) < p.upto })
	next := &turn.Continuation{Kind: turn.Declares, Key: name, Incarnation: rec.Incarnation, High: rec.Revision.Written(), Objects: list[:min(len(list), maxObjects)]}
	if n := len(next.Objects); n > 0 {
		next.Batch = numberOf(next.Objects[n-1]) + 1
	}
	if before := &t.Resumed; before.Kind == turn.Declares && before.Incarnation == rec.Incarnation && before.High == next.High && len(before.Objects) <= len(t.Answers) {
		next.Round, next.Own, next.Batch, next.Objects = before.Round+1, before.Own, before.Batch, nil
		for i, o := range before.Objects {
			r, err := message.Result(t.Answers[i].Message)
			if clean := r.Bool(); t.Answers[i].Err != nil || err != nil || !r.Done() {
				next.Objects = append(next.Objects, o)
			} else if !clean {
				next.Own = true // an object still stores entities that expired under a withdrawn rule
			}
		}
		switch {
		case len(next.Objects) == 0:
			p = progress{upto: max(p.upto, next.Batch), dirty: p.dirty || next.Own}
			t.Rows.Put(row, p.append())
			if n := len(list); n > 0 && numberOf(list[n-1]) >= p.upto {
				step = t.Fail(message.ErrMore)
				step.Alarm = t.Now
				return false, false, step
			}
		case next.Round >= turn.Rounds:
			step = t.Fail(table.ErrBusy)
			step.Alarm = t.Now + turn.RetryDelay
			return false, false, step
		}
	}
	if len(next.Objects) == 0 {
		return true, p.dirty, turn.Step{}
	}
	step = turn.Step{Next: next, Alarm: t.Now + turn.RetryDelay}
	to := message.Destination{Table: name, Buckets: rec.Layout.Buckets, Location: rec.Layout.Location}
	for _, o := range next.Objects {
		to.Bucket, to.Range = o.Bucket, o.Range
		step.Calls = append(step.Calls, durableobject.Call{To: durableobject.AddressOf(&to), Message: message.Declare(nil, &to)})
	}
	return false, false, step
}

// Calls returns the calls that send one message to several objects of a table.
func Calls(rec *record.Record, objects []message.Object, m []byte) []durableobject.Call {
	calls := make([]durableobject.Call, len(objects))
	for i, o := range objects {
		calls[i] = durableobject.Call{
			To:      durableobject.Range(rec.Key.String(), rec.Layout.Buckets, o.Bucket, o.Range, rec.Layout.Location),
			Message: m,
		}
	}
	return calls
}

// Next returns the first key, at or above the given key, of a table that is being deleted or whose objects must still
// read new options.
func Next(rows storage.Rows, key string) string {
	for k := range rows.Scan(storage.RowOf(storage.SpaceDeleting, key), []byte{storage.SpaceDeleting + 1}, 4<<10) {
		return string(k[1:])
	}
	return ""
}
