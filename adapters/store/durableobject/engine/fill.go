package engine

import (
	"bytes"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/span"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/edm"
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
		if ok, instead := b.begin(t, &p, incarnation); !ok {
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
		return t.Done() // the message is a late duplicate
	case seq <= s.Seq:
		return t.Done() // the message is a late duplicate
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
		b.feed.Took(t.Rows, message.FeedBegan, taking.From, taking.Cut, b.issue(t))
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

// putItems writes the entities of a chunk. It reports whether the chunk is well-formed.
func (b *bucket) putItems(t *turn.Turn) bool {
	for t.Fields.OK() && !t.Fields.Done() {
		item := t.Fields.Item()
		if t.Fields.OK() {
			b.put(t, &item)
		}
	}
	return t.Fields.Done()
}

// begin starts a new range: before the object writes its first row, the catalog must confirm that it has recorded the range.
func (b *bucket) begin(t *turn.Turn, p *message.Destination, incarnation table.Incarnation) (ok bool, instead turn.Step) {
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

// put stores the state of one entity of a chunk.
func (b *bucket) put(t *turn.Turn, i *message.Item) {
	k := b.entityKey(i.Key)
	if i.Gone {
		t.Rows.Delete(k)
	} else {
		t.Rows.Put(k, i.Value)
		b.room.Wrote(len(k) + len(i.Value))
	}
	if i.Unseen {
		b.outbox.PutUnpublished(t.Rows, k, i.ChangedAt)
	}
}

// raiseClock makes the clock issue only Timestamps above high, the highest Timestamp of another range.
func (b *bucket) raiseClock(high edm.Ticks) {
	b.marker.Floor = max(b.marker.Floor, high)
	b.clock.Last = max(b.clock.Last, high)
}
