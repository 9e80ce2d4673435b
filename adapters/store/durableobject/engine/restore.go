package engine

import (
	"bytes"
	"errors"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/feed"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/restoring"
	"edgetable/adapters/store/durableobject/internal/span"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/key"
	"edgetable/core/table"
)

// restore carries out this object's part in a restore of its table. It always asks the catalog what to do, so a
// repeated or late message is harmless.
func (b *bucket) restore(t *turn.Turn) turn.Step {
	p := t.Fields.Destination()
	if !t.Fields.Done() {
		return t.Malformed()
	}
	if t.Resumed.Kind == turn.Recalls {
		r, instead := b.readInstructions(t, t.Resumed.From, nil)
		if r == nil {
			return instead
		}
		return b.acceptStates(t, r)
	}
	r, instead := b.askInstructions(t, &p)
	if r == nil {
		return instead
	}
	if r.ID == 0 {
		b.thaw(t)
		return t.Done()
	}
	return b.obey(t, &p, r)
}

// obey carries out this object's part in the current phase of a restore.
func (b *bucket) obey(t *turn.Turn, p *message.Destination, r *restoring.Restore) turn.Step {
	o := &r.Objects[0]
	is := func(phase restoring.Phase) bool { return b.frozen.id == r.ID && b.frozen.phase == phase }
	switch r.Phase {
	case restoring.Freezing:
		if s := b.marker.Span; b.marker.Live && s != nil && (s.Phase == span.Sealed || s.Phase == span.Moved) {
			return t.Fail(restoring.Refused("Nothing was changed, because keys of the table are about to move to another object: run the same command again."))
		}
		b.freeze(t, r.ID, restoring.Freezing, p)
		calls := []durableobject.Call{{To: durableobject.History}}
		if o.Returns && len(o.State) == 0 {
			calls = append(calls, durableobject.Call{To: durableobject.History, Message: restoring.StateAt(r.To)})
		}
		return b.requestStates(t, calls)
	case restoring.Returning:
		switch {
		case !o.Returns || is(restoring.Returning):
		case is(restoring.Freezing):
			return b.goBack(t, r, o.State)
		case !b.owned(r, o):
			return t.Fail(restoring.Refused("Nothing was changed, because the platform restored an object to a time at which it had other keys: choose a time that is not close to a move of keys from one object to another."))
		default:
			b.freeze(t, r.ID, restoring.Returning, p)
		}
	case restoring.Settling:
		return b.finishRestore(t, p, r, o)
	case restoring.Undoing:
		if o.Returns && !is(restoring.Freezing) {
			return b.goBack(t, r, o.FrozenState)
		}
	}
	return t.Done()
}

// requestStates requests earlier states of the object from the platform. The continuation retains the catalog's
// instructions until the platform answers.
func (b *bucket) requestStates(t *turn.Turn, calls []durableobject.Call) turn.Step {
	said := t.Answers[0].Message
	return turn.Step{Calls: calls, Next: &turn.Continuation{Kind: turn.Recalls, From: said}}
}

// goBack makes the platform return the object to an earlier state. The platform terminates the object, so the call gets
// no answer.
func (b *bucket) goBack(t *turn.Turn, r *restoring.Restore, state []byte) turn.Step {
	return b.requestStates(t, []durableobject.Call{{To: durableobject.History, Message: append(restoring.StateAt(r.To), state...)}})
}

// acceptStates handles the platform's answers to the calls of requestStates.
func (b *bucket) acceptStates(t *turn.Turn, r *restoring.Restore) turn.Step {
	var states [2][]byte
	for i, a := range t.Answers {
		if failed, ok := errors.AsType[*durableobject.FailedError](a.Err); ok {
			return t.Fail(restoring.Refused("Nothing was changed, because the platform does not restore an object: " + failed.Reason))
		}
		if a.Err != nil || len(a.Message) == 0 || i >= len(states) {
			return t.Fail(table.ErrBusy)
		}
		states[i] = a.Message
	}
	if r.Phase != restoring.Freezing || b.frozen.id != r.ID || b.frozen.phase != r.Phase {
		return t.Fail(table.ErrBusy) // the object did not terminate as requested, or the restore has moved to another phase
	}
	if states[1] == nil {
		states[1] = r.Objects[0].State
	}
	return turn.Step{Answer: message.AppendFound(t.Dst, states[1], states[0], max(b.clock.Last, b.clock.Reserved))}
}

// owned reports whether the object, after its return to the requested time, has the keys that the catalog's history
// assigns to it. Keys that the object was handing over count, too.
func (b *bucket) owned(r *restoring.Restore, o *restoring.Returned) bool {
	s := b.marker.Span
	switch {
	case !b.marker.Live:
		return o.Range == 0 && restoring.IsWholeBucket(o.Bounds) // the object has never received a write
	case b.marker.Incarnation != r.IncarnationAtTo:
		return false
	case s == nil:
		return restoring.IsWholeBucket(o.Bounds)
	case s.Phase == span.Filling:
		return false
	}
	has := s.Bounds
	if s.Phase == span.Sealed || s.Phase == span.Moved {
		has.End = s.End
	}
	return bytes.Equal(has.Start, o.Bounds.Start) && bytes.Equal(has.End, o.Bounds.End) && (has.End == nil) == (o.Bounds.End == nil)
}

// finishRestore makes the object serve its entities as the next incarnation, or drop them. If the object publishes its
// entities, it stays frozen until the replica has all of them or reports that the object lags.
func (b *bucket) finishRestore(t *turn.Turn, p *message.Destination, r *restoring.Restore, o *restoring.Returned) turn.Step {
	switch {
	case !o.Returns:
		feed.Wipe(t.Rows)
		b.feed = feed.Feed{}
		b.endRange(t)
		b.frozen = frozen{}
		b.generation++
		return t.Done()
	case b.marker.Live && b.marker.Incarnation == r.NewIncarnation:
	case b.frozen.id != r.ID || b.frozen.phase != restoring.Returning:
		return t.Fail(table.ErrBusy)
	case storage.Delete(t.Rows, []byte{storage.SpaceMarks}, []byte{storage.SpaceMarks + 1}, emptyRows) == emptyRows:
		return t.Fail(table.ErrBusy) // the next message deletes more rows
	default:
		b.adopt(t, p, r, o)
	}
	if !b.outbox.IsSettled(t.Now) {
		b.freeze(t, r.ID, restoring.Settling, p)
		return t.Fail(table.ErrBusy)
	}
	b.thaw(t)
	return t.Done()
}

// adopt assigns the object's entities to the next incarnation. It cancels a split, unless only rows of moved keys
// remain to be deleted.
func (b *bucket) adopt(t *turn.Turn, p *message.Destination, r *restoring.Restore, o *restoring.Returned) {
	m := &b.marker
	feed.Wipe(t.Rows) // the feed must refuse all positions that readers got before the restore
	m.Live, m.Incarnation, m.Traits = true, r.NewIncarnation, r.Traits
	if s := m.Span; s != nil && s.Phase != span.Emptying {
		bounds := key.Range{Start: bytes.Clone(o.Bounds.Start), End: bytes.Clone(o.Bounds.End)}
		m.Span = s.Serve(bounds)
	}
	b.raiseClock(r.High)
	m.Put(t.Rows)
	b.feed.Load(t.Rows, r.NewIncarnation, r.Traits)
	b.restartSweep(t)
	b.outbox.Leave(t.Rows)
	b.split.reset(0)
	b.loadSplit(t)
	b.outbox.JoinBucket(t, p, r.NewIncarnation)
	b.split.lookLater(t, b)
	b.answers.Life++
	b.generation++
}
