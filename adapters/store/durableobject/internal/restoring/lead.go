package restoring

import (
	"slices"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/buckets"
	"edgetable/core/edm"
	"edgetable/core/key"
)

// visibleIn is the time after which all readers of the replica see a write. After this time without messages, a restore
// in the phase Freezing is cancelled.
const visibleIn = 90 * edm.TicksPerSecond

// Plan determines which objects return to an earlier state. The parameter maps contains the ranges of each bucket at
// the requested time; the objects of these ranges return. The other objects of the list now drop their entities. If the
// restore undoes an earlier one, the parameter last is the earlier restore.
func (r *Restore) Plan(maps []buckets.Ranges, now []message.Object, last *Restore) {
	r.Phase, r.Deadline = Freezing, r.StartedAt+visibleIn
	for n, m := range maps {
		if len(m) == 0 {
			m = buckets.Ranges{{}}
		}
		for _, one := range m {
			o := Returned{Object: message.Object{Bucket: uint16(n), Range: one.ID}, Returns: true}
			o.Bounds, _ = m.Bounds(one.ID)
			if i := last.index(o.Object); r.Undo && i >= 0 {
				o.State = last.Objects[i].FrozenState
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

// Advance moves the restore to its next phase if all objects have finished the current one. If r.Reason is set, it
// moves the restore towards Cancelled instead. The parameter hasReplica is true if a replica must learn of the restore.
func (r *Restore) Advance(now edm.Ticks, hasReplica bool) {
	waits := slices.ContainsFunc(r.Objects, func(o Returned) bool { return !o.Done })
	before := r.Phase
	switch {
	case r.Reason != "" && r.Phase == Freezing, r.Phase == Undoing && !waits:
		r.Phase = Cancelled
	case r.Reason != "" && r.Phase == Returning:
		r.Phase = Undoing
	case r.Phase == Telling && now < r.Deadline:
		return
	case r.Phase == Telling, r.Phase == Settling && !waits && !hasReplica:
		r.Phase = Finished
	case !waits:
		r.Phase++
	}
	r.Deadline = now + visibleIn
	if r.Phase != before {
		for i := range r.Objects {
			r.Objects[i].Done = false
		}
	}
}

// Abandoned reports whether the restore was in its first phase for too long, for example because its command was
// killed. Such a restore can be cancelled, because no object has changed yet.
func (r *Restore) Abandoned(now edm.Ticks) bool { return r.Phase == Freezing && now > r.Deadline }

// Map returns the ranges of a bucket after the restore.
func (r *Restore) Map(bucket uint16) (m buckets.Ranges) {
	for _, o := range r.Objects {
		if o.Returns && o.Bucket == bucket {
			m = append(m, buckets.Range{ID: o.Range, Start: o.Bounds.Start})
		}
	}
	if len(m) == 1 && m[0].ID == 0 {
		return nil // the result is nil, because the bucket never split
	}
	return m
}

// IsWholeBucket reports whether a range contains all keys.
func IsWholeBucket(r key.Range) bool { return len(r.Start) == 0 && r.End == nil }
