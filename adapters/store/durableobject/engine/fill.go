package engine

import (
	"bytes"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/span"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/key"
	"edgetable/core/table"
)

// fill stores a chunk of entities that another range sends. With the last chunk, this range takes over the keys.
func (b *bucket) fill(t *turn.Turn, last bool) turn.Step {
	p := t.Fields.Destination()
	incarnation, seq := t.Fields.Incarnation(), t.Fields.Uint64()
	var taking message.Taking
	if last {
		taking = t.Fields.Taking()
	}
	if !t.Fields.OK() {
		return t.Malformed()
	}
	if b.frozen.id != 0 {
		return t.Fail(table.ErrBusy)
	}
	if !b.marker.Live {
		if ok, instead := b.beginRange(t, &p, incarnation); !ok {
			return instead
		}
	}
	s := b.marker.Span
	switch {
	case b.marker.Incarnation != incarnation:
		return t.Fail(table.ErrNoTable)
	case s == nil || s.Phase != span.Filling:
		if last {
			return b.widen(t, &taking)
		}
		return t.Done() // the message is a duplicate that arrived late
	case seq <= s.Seq:
		return t.Done() // the message is a duplicate that arrived late
	case last && s.Seq == 0, !last && b.room.Full(t.Rows):
		return t.Fail(table.ErrBusy)
	}
	if !b.putItems(t) {
		return t.MalformedPiece()
	}
	s.Seq = seq
	if last {
		s.Phase, s.Since = span.Serving, t.Now
		s.Bounds = key.Range{Start: bytes.Clone(taking.Bounds.Start), End: bytes.Clone(taking.Bounds.End)}
		b.raiseClock(taking.High)
		b.feed.RecordReceived(t.Rows, message.FeedBegan, taking.From, taking.Cut, b.issue(t))
		b.outbox.Keys.Start = s.Bounds.Start
		b.outbox.TakeOver(t, &p, incarnation, &taking)
	}
	b.marker.Put(t.Rows)
	if last {
		b.restartSweep(t)
		b.split.lookLater(t, b)
	}
	return t.Done()
}

// beginRange starts a new range. Before the object writes its first row, the catalog must confirm that it has recorded
// the range.
func (b *bucket) beginRange(t *turn.Turn, p *message.Destination, incarnation table.Incarnation) (ok bool, instead turn.Step) {
	l, instead := b.askCatalog(t, p)
	if l == nil {
		return false, instead
	}
	if l.Incarnation != incarnation || !l.Begins(p.Range) {
		return false, t.Fail(table.ErrNoTable)
	}
	b.marker = span.Marker{Live: true, Incarnation: incarnation, Floor: l.Floor, Traits: l.traits, Span: &span.Span{Self: p.Clone(), Phase: span.Filling}}
	b.clock.Last = max(b.clock.Last, l.Floor)
	b.marker.Put(t.Rows)
	b.feed.Load(t.Rows, incarnation, l.traits)
	return true, turn.Step{}
}
