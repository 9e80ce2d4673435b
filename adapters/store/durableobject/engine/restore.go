package engine

import (
	"bytes"
	"errors"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/restoring"
	"edgetable/adapters/store/durableobject/internal/span"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/core/key"
	"edgetable/core/table"
)

// restore does what the catalog says in a restore of the table. It may be repeated. It asks the
// catalog each time, so that a late message does no harm.
func (b *bucket) restore(t *turn) Step {
	p := t.fields.Destination()
	if !t.fields.Done() {
		return t.malformed()
	}
	if t.resumed.kind == recalls {
		r, instead := b.readInstructions(t, t.resumed.from, nil)
		if r == nil {
			return instead
		}
		return b.recalled(t, r)
	}
	r, instead := b.instructed(t, &p)
	if r == nil {
		return instead
	}
	if r.ID == 0 {
		b.thaw(t)
		return t.done()
	}
	return b.obey(t, &p, r)
}

// obey takes the step of an object in a phase of a restore.
func (b *bucket) obey(t *turn, p *message.Destination, r *restoring.Restore) Step {
	o := &r.Objects[0]
	is := func(phase restoring.Phase) bool { return b.frozen.id == r.ID && b.frozen.phase == phase }
	switch r.Phase {
	case restoring.Freezing:
		if s := b.marker.Span; b.marker.Live && s != nil && (s.Phase == span.Sealed || s.Phase == span.Moved) {
			return t.fail(refused("Nothing was changed, because keys of the table are about to move to another object: run the same command again."))
		}
		b.freeze(t, r.ID, restoring.Freezing, p)
		calls := []durableobject.Call{{To: durableobject.History}}
		if o.Back && len(o.State) == 0 {
			calls = append(calls, durableobject.Call{To: durableobject.History, Message: stateAt(r.To)})
		}
		return b.recall(t, calls)
	case restoring.Returning:
		switch {
		case !o.Back || is(restoring.Returning):
		case is(restoring.Freezing):
			return b.goBack(t, r, o.State)
		case !b.owned(r, o):
			return t.fail(refused("Nothing was changed, because the platform put an object back to a time at which it had other keys: choose a time that is further from moves of keys."))
		default:
			b.freeze(t, r.ID, restoring.Returning, p)
		}
	case restoring.Settling:
		return b.settle(t, p, r, o)
	case restoring.Undoing:
		if o.Back && !is(restoring.Freezing) {
			return b.goBack(t, r, o.Before)
		}
	}
	return t.done()
}

// recall asks the platform for states, and remembers the instructions.
func (b *bucket) recall(t *turn, calls []durableobject.Call) Step {
	said := t.answers[0].Message
	return Step{Calls: calls, next: &continuation{kind: recalls, from: said}}
}

// goBack has the platform put the object back: it ends, and this call has no answer.
func (b *bucket) goBack(t *turn, r *restoring.Restore, state []byte) Step {
	return b.recall(t, []durableobject.Call{{To: durableobject.History, Message: append(stateAt(r.To), state...)}})
}

// recalled takes the answers of the platform.
func (b *bucket) recalled(t *turn, r *restoring.Restore) Step {
	var states [2][]byte
	for i, a := range t.answers {
		if failed, ok := errors.AsType[*durableobject.FailedError](a.Err); ok {
			return t.fail(refused("Nothing was changed, because the platform does not put an object back: " + failed.Reason))
		}
		if a.Err != nil || len(a.Message) == 0 || i >= len(states) {
			return t.fail(table.ErrBusy)
		}
		states[i] = a.Message
	}
	if r.Phase != restoring.Freezing || b.frozen.id != r.ID || b.frozen.phase != r.Phase {
		return t.fail(table.ErrBusy) // the object did not end, or the restore went on
	}
	if states[1] == nil {
		states[1] = r.Objects[0].State
	}
	return Step{Answer: message.AppendFound(t.dst, states[1], states[0], max(b.clock.Last, b.clock.Reserved))}
}

// owned reports whether the object has the keys that the catalog knows that it had. One
// that sealed keys still has all their rows.
func (b *bucket) owned(r *restoring.Restore, o *restoring.Returned) bool {
	s := b.marker.Span
	switch {
	case !b.marker.Live:
		return o.Range == 0 && restoring.Whole(o.Bounds) // nobody had written to it
	case b.marker.Incarnation != r.Then:
		return false
	case s == nil:
		return restoring.Whole(o.Bounds)
	case s.Phase == span.Filling:
		return false
	}
	has := s.Bounds
	if s.Phase == span.Sealed || s.Phase == span.Moved {
		has.End = s.End
	}
	return bytes.Equal(has.Start, o.Bounds.Start) && bytes.Equal(has.End, o.Bounds.End) && (has.End == nil) == (o.Bounds.End == nil)
}

// settle makes the object serve its entities as the next incarnation, or drop them. The object
// stays frozen until the replica is told that it lacks them.
func (b *bucket) settle(t *turn, p *message.Destination, r *restoring.Restore, o *restoring.Returned) Step {
	switch {
	case !o.Back:
		b.left(t)
		b.frozen = frozen{}
		b.generation++
		return t.done()
	case b.marker.Live && b.marker.Incarnation == r.Next:
	case b.frozen.id != r.ID || b.frozen.phase != restoring.Returning:
		return t.fail(table.ErrBusy)
	case storage.Delete(t.rows, []byte{spaceMarks}, []byte{spaceMarks + 1}, emptyRows) == emptyRows:
		return t.fail(table.ErrBusy) // and goes on the next time
	default:
		b.adopt(t, p, r, o)
	}
	if x := b.outbox; x.on && x.marked <= 1 && !x.clear(t.now) {
		b.freeze(t, r.ID, restoring.Settling, p)
		return t.fail(table.ErrBusy)
	}
	b.thaw(t)
	return t.done()
}

// adopt makes what the object has that of the next incarnation. Its split is given up, but
// for rows of keys that another range has already.
func (b *bucket) adopt(t *turn, p *message.Destination, r *restoring.Restore, o *restoring.Returned) {
	m := &b.marker
	m.Live, m.Incarnation = true, r.Next
	if s := m.Span; s != nil && s.Phase != span.Emptying {
		bounds := key.Range{Start: bytes.Clone(o.Bounds.Start), End: bytes.Clone(o.Bounds.End)}
		m.Span = &span.Span{Self: s.Self, Bounds: bounds, Seq: s.Seq}
	}
	b.above(r.High)
	m.Put(t.rows)
	t.rows.Delete(rowSending)
	b.outbox.publishing = publishing{sending: sending{until: b.outbox.until}}
	b.split.reset(0)
	b.loadSplit(t)
	b.outbox.joinBucket(t, p, r.Next)
	b.split.lookLater(t, b)
	b.answers.Life++
	b.generation++
}
