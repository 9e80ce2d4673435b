package engine

import (
	"errors"

	"edgetable/adapters/store/durableobject/internal/expiry"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/span"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// An object stores the options that its table declares, such as expiry. When they change, the catalog makes all objects
// read them again before it answers the client.
//
// The message OpDeclare contains no options, so a late OpDeclare is harmless.

// declare reads the table's declared options from the catalog. Its answer says whether the bucket has removed all
// entities that expired under a withdrawn rule.
func (b *bucket) declare(t *turn.Turn) turn.Step {
	p := t.Fields.Destination()
	if !t.Fields.Done() {
		return t.Malformed()
	}
	if b.frozen.id != 0 {
		return t.Fail(table.ErrBusy)
	}
	if t.Resumed.Kind != turn.Locates {
		b.generation++ // from now on, answers to earlier questions are ignored
	}
	clean := byte(1)
	if b.marker.Live {
		l, instead := b.askCatalog(t, &p)
		switch {
		case l == nil && t.Has(instead, message.StatusNoTable):
		case l == nil:
			return instead
		case l.Incarnation == b.marker.Incarnation && !message.SameTraits(l.traits, b.marker.Traits):
			b.marker.Traits = l.traits
			b.marker.Put(t.Rows)
			b.declareFeed(t)
			b.restartSweep(t)
		}
		if !b.sweep.Clean(b.marker.Traits) {
			clean = 0
		}
	}
	return turn.Step{Answer: append(message.Done(t.Dst), clean)}
}

// restartSweep restarts the search for expired entities after the declared options changed or the object received
// entities.
func (b *bucket) restartSweep(t *turn.Turn) { b.sweep.Declared(t.Rows, b.marker.Traits, t.Now) }

// expiryJudge returns the [expiry.Judge] that determines which entities have expired for a read.
func (b *bucket) expiryJudge(t *turn.Turn) expiry.Judge {
	if b.marker.Traits == nil {
		return expiry.Judge{}
	}
	return expiry.NewJudge(b.marker.Traits, b.clock.Instant(t.Now), b.clock)
}

// hides reports whether a stored entity has expired.
func (b *bucket) hides(t *turn.Turn, k, v []byte) bool {
	if b.marker.Traits == nil {
		return false
	}
	row, err := table.ParseRow(k, v)
	j := b.expiryJudge(t)
	hides := err == nil && j.Hides(&row)
	j.Keep(t.Rows, b.clock)
	return hides
}

// keepExpired must be called when a write is refused. It stores the current time if the entity has expired, so that the
// entity stays expired.
func (b *bucket) keepExpired(t *turn.Turn, old *table.Row, now edm.Ticks) {
	if b.marker.Traits == nil || old == nil {
		return
	}
	j := expiry.NewJudge(b.marker.Traits, b.clock.Instant(now), b.clock)
	j.Hides(old)
	j.Keep(t.Rows, b.clock)
}

// removeEnded removes some expired entities. It removes an entity only if the entity has not changed since it was read.
func (b *bucket) removeEnded(t *turn.Turn) {
	s, traits := &b.sweep, b.marker.Traits
	if traits == nil || !b.marker.Live || s.IsWaiting(t.Now) || b.marker.Span != nil && b.marker.Span.Phase == span.Filling {
		return
	}
	at := b.clock.Next(t.Now, 0, 1)
	removed := false
	b.feed.Begin()
	for _, row := range s.Step(t.Rows, traits, b.marker.Bounds(), at) {
		m := table.Mutation{Key: row.Key, Kind: table.Expire, Condition: table.Unchanged, IfMatch: row.Timestamp}
		if err := b.apply(t, &m, at); errors.Is(err, table.ErrChanged) {
			s.NoteRefusal()
			continue
		}
		removed = true
	}
	if s.FinishPass(t.Rows, traits, at); !removed {
		return
	}
	b.clock.Issue(t.Rows, at)
	b.room.Wrote(b.feed.Commit(t.Rows, at))
	b.outbox.Notify(t, at)
	b.room.Look()
	b.split.lookLater(t, b)
}
