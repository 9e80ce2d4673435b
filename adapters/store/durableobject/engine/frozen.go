package engine

import (
	"bytes"
	"encoding/binary"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/feed"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/restoring"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/table"
)

// frozen is the state of an object that serves nothing during a restore. Its row is absent after the object's return to
// an earlier state.
type frozen struct {
	id    uint64 // the id of the restore; 0 if the object is not frozen
	phase restoring.Phase
	self  message.Destination
}

func (b *bucket) loadFrozen(rows storage.Rows) {
	b.frozen = frozen{}
	if v, ok := rows.Get(storage.RowFrozen); ok {
		r := message.Read(bytes.Clone(v))
		b.frozen = frozen{id: r.Uint64(), phase: restoring.Phase(r.Byte()), self: r.Self()}
	}
}

func (b *bucket) freeze(t *turn.Turn, id uint64, phase restoring.Phase, p *message.Destination) {
	if b.frozen.id == id && b.frozen.phase == phase {
		return
	}
	b.frozen = frozen{id, phase, p.Clone()}
	b.generation++
	t.Rows.Put(storage.RowFrozen, message.AppendSelf(append(binary.BigEndian.AppendUint64(nil, id), byte(phase)), p))
}

func (b *bucket) thaw(t *turn.Turn) {
	if b.frozen.id == 0 {
		return
	}
	b.frozen = frozen{}
	b.generation++
	t.Rows.Delete(storage.RowFrozen)
	if !b.marker.Live && b.clock.Reserved == 0 {
		feed.DeleteAll(t.Rows)
	}
	b.loadSplit(t) // the rows record whether a split is in progress; loadSplit then continues the split
}

// askInstructions returns this object's part in a restore. If r is nil, the caller must return the second result, the step that asks the catalog.
func (b *bucket) askInstructions(t *turn.Turn, p *message.Destination) (r *restoring.Restore, instead turn.Step) {
	c := &t.Resumed
	if c.Kind != turn.Instructs || c.Generation != b.generation || len(t.Answers) != 1 {
		if c.Kind == turn.Instructs && c.Round+1 >= turn.Rounds {
			return nil, t.Fail(table.ErrBusy)
		}
		return nil, turn.Step{
			Calls: []durableobject.Call{{To: durableobject.CatalogOf(p.Table, b.catalog), Message: message.Instruct(nil, p)}},
			Next:  &turn.Continuation{Kind: turn.Instructs, Generation: b.generation, Round: c.Round + 1},
		}
	}
	return b.readInstructions(t, t.Answers[0].Message, t.Answers[0].Err)
}

func (b *bucket) readInstructions(t *turn.Turn, m []byte, err error) (r *restoring.Restore, instead turn.Step) {
	if err == nil {
		var fields message.Reader
		if fields, err = message.Result(m); err == nil {
			if r, ok := restoring.Read(fields); ok && len(r.Objects) <= 1 && (r.ID == 0) == (len(r.Objects) == 0) {
				return r, turn.Step{}
			}
		}
	}
	return nil, t.Fail(table.ErrBusy)
}

// checkFrozen reports whether the object is frozen. It asks the catalog, and ends a freeze that no restore needs.
func (b *bucket) checkFrozen(t *turn.Turn) (held bool, instead turn.Step) {
	if b.frozen.id == 0 {
		return false, turn.Step{}
	}
	r, instead := b.askInstructions(t, &b.frozen.self)
	if r == nil {
		return true, instead
	}
	b.endFreeze(t, r)
	return b.frozen.id != 0, t.Fail(table.ErrBusy)
}

// endFreeze ends the freeze if the restore has ended. In the phase Settling, the object serves its entities again or
// drops them.
func (b *bucket) endFreeze(t *turn.Turn, r *restoring.Restore) {
	p := b.frozen.self
	switch {
	case r.ID == 0:
		b.thaw(t)
	case r.Phase == restoring.Settling:
		b.obey(t, &p, r)
	}
}

// alarmFrozen handles the alarm of a frozen object. The object publishes the entities that it served before the
// restore, or that it will serve after the restore.
func (b *bucket) alarmFrozen(t *turn.Turn) turn.Step {
	r, instead := b.askInstructions(t, &b.frozen.self)
	if r == nil && len(instead.Calls) > 0 {
		return instead
	}
	if r != nil {
		b.endFreeze(t, r)
		if f := &b.frozen; f.id == r.ID && f.phase == r.Phase && r.Phase != restoring.Returning {
			return b.outbox.Publish(t)
		}
	}
	return t.Done()
}

// mayPublish reports whether the object may publish its entities. After a return to an earlier state, the object must
// first serve the table's next incarnation.
func (b *bucket) mayPublish(t *turn.Turn) (ok bool, instead turn.Step) {
	if !b.outbox.NeedsPermission(t.Now) {
		return true, turn.Step{}
	}
	self, asks := b.outbox.AskPermission(t)
	if !asks {
		return false, t.Done()
	}
	r, instead := b.askInstructions(t, self)
	switch {
	case r == nil && len(instead.Calls) > 0:
		return false, instead
	case r == nil || r.ID != 0 && r.Phase != restoring.Freezing && b.marker.Incarnation != r.NewIncarnation:
		return false, t.Done()
	}
	b.outbox.Permit()
	return true, turn.Step{}
}
