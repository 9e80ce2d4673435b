package restoring

import (
	"slices"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/buckets"
	"edgetable/core/edm"
	"edgetable/core/key"
)

// visibleIn is the time after which all readers of the replica see a mark, and after which
// the catalog gives up a restore that froze no more.
const visibleIn = 90 * edm.TicksPerSecond

// Plan fills in which objects go back: those of the maps of the buckets at the time. Others
// that the table has now drop. last is the restore that is undone.
func (r *Restore) Plan(maps []buckets.Ranges, now []message.Object, last *Restore) {
	r.Phase, r.Until = Freezing, r.Began+visibleIn
	for n, m := range maps {
		if len(m) == 0 {
			m = buckets.Ranges{{}}
		}
		for _, one := range m {
			o := Returned{Object: message.Object{Bucket: uint16(n), Range: one.ID}, Back: true}
			o.Bounds, _ = m.Bounds(one.ID)
			if i := last.index(o.Object); r.Undo && i >= 0 {
				o.State = last.Objects[i].Before
			}
			r.Objects = append(r.Objects, o)
		}
	}
	for _, o := range now {
		if r.index(o) < 0 {
			r.Objects = append(r.Objects, Returned{Object: o})
		}
	}
}

// Advance takes the next phase if all objects are done with this one, or the way back where
// there is a reason. tells: there is a replica.
func (r *Restore) Advance(now edm.Ticks, tells bool) {
	waits := slices.ContainsFunc(r.Objects, func(o Returned) bool { return !o.Done })
	before := r.Phase
	switch {
	case r.Why != "" && r.Phase == Freezing, r.Phase == Undoing && !waits:
		r.Phase = Cancelled
	case r.Why != "" && r.Phase == Returning:
		r.Phase = Undoing
	case r.Phase == Telling && now < r.Until:
		return
	case r.Phase == Telling, r.Phase == Settling && !waits && !tells:
		r.Phase = Finished
	case !waits:
		r.Phase++
	}
	r.Until = now + visibleIn
	if r.Phase != before {
		for i := range r.Objects {
			r.Objects[i].Done = false
		}
	}
}

// Abandoned reports whether no object can be at another state than before, and no more is
// told of the restore: its command was killed, or came late.
func (r *Restore) Abandoned(now edm.Ticks) bool { return r.Phase == Freezing && now > r.Until }

// Map is the map of a bucket after the restore.
func (r *Restore) Map(bucket uint16) (m buckets.Ranges) {
	for _, o := range r.Objects {
		if o.Back && o.Bucket == bucket {
			m = append(m, buckets.Range{ID: o.Range, Start: o.Bounds.Start})
		}
	}
	if len(m) == 1 && m[0].ID == 0 {
		return nil // it never split
	}
	return m
}

// Whole reports whether bounds are those of all keys.
func Whole(r key.Range) bool { return len(r.Start) == 0 && r.End == nil }
