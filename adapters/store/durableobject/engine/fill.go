package engine

import (
	"bytes"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/span"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// fill takes a piece of another range, or with last the keys themselves.
func (b *bucket) fill(t *turn, last bool) Step {
	p := t.fields.Destination()
	incarnation, seq := t.fields.Incarnation(), t.fields.Uint64()
	var taking message.Taking
	if last {
		taking = t.fields.Taking()
	}
	if !t.fields.OK() {
		return t.malformed()
	}
	if b.frozen.id != 0 {
		return t.fail(table.ErrBusy)
	}
	if !b.marker.Live {
		if ok, instead := b.begin(t, &p, incarnation); !ok {
			return instead
		}
	}
	s := b.marker.Span
	switch {
	case b.marker.Incarnation != incarnation:
		return t.fail(table.ErrNoTable)
	case s == nil || s.Phase != span.Filling:
		if last {
			return b.widen(t, &taking)
		}
		return t.done() // late
	case seq <= s.Seq:
		return t.done() // late
	case last && s.Seq == 0, !last && b.room.Full(t.rows):
		return t.fail(table.ErrBusy)
	}
	for t.fields.OK() && !t.fields.Done() {
		item := t.fields.Item()
		if t.fields.OK() {
			b.put(t, &item)
		}
	}
	if !t.fields.Done() {
		step := t.malformed()
		step.Rollback = true
		return step
	}
	s.Seq = seq
	if last {
		s.Phase = span.Serving
		s.Bounds = key.Range{Start: bytes.Clone(taking.Bounds.Start), End: bytes.Clone(taking.Bounds.End)}
		b.above(taking.High)
		b.publishAs(t, &p, &taking)
	}
	b.marker.Put(t.rows)
	if last {
		b.split.lookLater(t, b)
	}
	return t.done()
}

// begin asks the catalog whether this range was named, before it has a row.
func (b *bucket) begin(t *turn, p *message.Destination, incarnation table.Incarnation) (ok bool, instead Step) {
	l, instead := b.located(t, p)
	if l == nil {
		return false, instead
	}
	if l.Incarnation != incarnation || !l.Begins(p.Range) {
		return false, t.fail(table.ErrNoTable)
	}
	b.marker = span.Marker{Live: true, Incarnation: incarnation, Floor: l.Floor, Span: &span.Span{Self: p.Clone(), Phase: span.Filling}}
	b.clock.Last = max(b.clock.Last, l.Floor)
	b.marker.Put(t.rows)
	return true, Step{}
}

// put writes an entity of a piece.
func (b *bucket) put(t *turn, i *message.Item) {
	k := b.entityKey(i.Key)
	if i.Gone {
		t.rows.Delete(k)
	} else {
		t.rows.Put(k, i.Value)
		b.room.Wrote(len(k) + len(i.Value))
	}
	if i.Unseen && b.outbox.name != "" {
		storage.PutTicks(t.rows, b.outbox.changeKey(k), i.ChangedAt)
	}
}

// above lets the clock issue only Timestamps above another range's.
func (b *bucket) above(high edm.Ticks) {
	b.marker.Floor = max(b.marker.Floor, high)
	b.clock.Last = max(b.clock.Last, high)
}

// publishAs goes on to publish where the other range ended.
func (b *bucket) publishAs(t *turn, p *message.Destination, taking *message.Taking) {
	o := b.outbox
	if o.incarnation = b.marker.Incarnation; o.name == "" || o.name != taking.Replica {
		return
	}
	o.publishing = publishing{on: true, incarnation: b.marker.Incarnation, sending: sending{
		replica: o.name, source: durableobject.SourceOf(b.marker.Incarnation, p.Bucket, p.Range), since: taking.Since,
	}}
	if !taking.Synced {
		o.since, o.sync = 0, firstRow
	}
	o.pending, o.ask = o.hasChanges(t.rows), t.now
	o.put(t.rows)
	o.know(t, p)
}
