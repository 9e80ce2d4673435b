package engine

import (
	"bytes"
	"errors"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/span"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/visits"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// An empty range gives its keys to its right neighbour and ends. It serves them until the
// neighbour has agreed to take them, so that they wait for one exchange.

const (
	// leaveAfter is the time without a write after which an empty range leaves.
	leaveAfter = 3600 * edm.TicksPerSecond
	// leaveAgain is the time after which a range asks again whose neighbour did not agree, and
	// up to six times as long, so that neighbours do not ask at the same time again.
	leaveAgain = 10 * edm.TicksPerSecond
	// promised is the time for which a range stays whose neighbour may give it its keys.
	promised = 60 * edm.TicksPerSecond
)

// leaving is how far a range is that wants to leave. It is forgotten with its engine: until the
// range seals, nothing depends on it.
type leaving struct {
	asks   bool      // the catalog for its neighbour, or this one whether it agrees
	last   edm.Ticks // the last write then
	number uint64    // with which the neighbour agreed
}

// leave begins to leave, if the range is empty.
func (b *bucket) leave(t *turn) Step {
	s, x := b.marker.Span, &b.split
	x.leave = leaving{}
	switch {
	case s.Bounds.End == nil || !b.isEmpty(t):
		return t.done()
	case !b.outbox.clear(t.now):
		x.lookLater(t, b)
		return t.done()
	case x.last != 0 && t.now < x.last+leaveAfter && t.now >= x.last:
		x.look = x.last + leaveAfter
		return t.done()
	case x.promise != 0 && t.now < x.stays && x.stays <= t.now+promised:
		x.look = x.stays
		return t.done()
	}
	x.leave = leaving{asks: true, last: x.last}
	return b.askForNeighbour(t)
}

func (b *bucket) isEmpty(t *turn) bool {
	from, to := rowBounds(b.marker.Bounds())
	return !storage.HasAny(t.rows, from, to)
}

// lookIfEmpty lets a range leave whose earlier engine may have known that it would.
func (b *bucket) lookIfEmpty(t *turn) {
	if s := b.marker.Span; s != nil && s.Phase == span.Serving && s.Bounds.End != nil && b.isEmpty(t) {
		b.split.lookLater(t, b)
	}
}

// askForNeighbour asks the catalog for the map.
func (b *bucket) askForNeighbour(t *turn) Step {
	self := &b.marker.Span.Self
	return b.call(t, durableobject.CatalogOf(self.Table, b.catalog), message.Ranges(nil, self.Table, self.Bucket), &continuation{own: true})
}

// neighbour is the right neighbour in the map, 0 if that is not certain. This range is in it, too:
// the one that gave it its keys has told the catalog, and knows that they arrived.
func (b *bucket) neighbour(r message.Reader, start, end []byte) uint32 {
	known, ok := b.known(r)
	own, _ := known.Ranges.Bounds(b.marker.Span.Self.Range)
	id, bounds := known.Ranges.Find(end)
	if !ok || !bytes.Equal(own.Start, start) || !bytes.Equal(own.End, end) || !bytes.Equal(bounds.Start, end) {
		return 0
	}
	return id
}

// leaves takes an answer while the range still serves: that of the catalog, then that of the
// neighbour. If it agrees, the range seals, and gives it the keys at once.
func (b *bucket) leaves(t *turn, r message.Reader, err error) Step {
	s, x := b.marker.Span, &b.split
	stays := func() Step {
		x.leave, x.due, x.look = leaving{}, 0, t.now+leaveAgain+edm.Ticks(x.rand()%uint64(5*leaveAgain))
		return t.done()
	}
	if err != nil || t.answers[0].Err != nil || !x.leave.asks || x.choice != nil || x.leave.last != x.last || !b.isEmpty(t) || !b.outbox.clear(t.now) {
		return stays()
	}
	if t.resumed.own {
		if s.Target = b.neighbour(r, s.Bounds.Start, s.Bounds.End); s.Target == 0 {
			return stays()
		}
		p := b.target()
		return b.call(t, durableobject.AddressOf(&p), message.Offer(nil, &p, b.marker.Incarnation, s.Bounds.End), &continuation{})
	}
	if x.leave.number = r.Uint64(); !r.Done() || s.Target == 0 {
		return stays()
	}
	s.Phase, s.Sealed, s.Leaving = span.Sealed, t.now, true
	s.At, s.End = s.Bounds.Start, s.Bounds.End
	s.Bounds.End = append([]byte{}, s.At...)
	return b.give(t)
}

// agree answers a left neighbour that wants to leave with a number, by which it may give its keys
// to this range: no other one, and no late message, has that. So a refusal is final.
func (b *bucket) agree(t *turn) Step {
	p := t.fields.Destination()
	incarnation, end := t.fields.Incarnation(), t.fields.Bytes()
	s, x := b.marker.Span, &b.split
	switch {
	case !t.fields.Done():
		return t.malformed()
	case !b.marker.Live || b.marker.Incarnation != incarnation || s == nil || s.Self.Range != p.Range:
		return t.fail(table.ErrNoTable)
	case b.frozen.id != 0 || s.Phase == span.Filling || s.Leaving || x.leave.asks || !bytes.Equal(s.Bounds.Start, end):
		return t.fail(table.ErrBusy)
	}
	x.promise, x.stays = x.rand()|1, t.now+promised
	return Step{Answer: message.DoneNumber(t.dst, x.promise)}
}

// refused takes the answer of a neighbour that does not take the keys after all, as it restarted or
// gives its own away. It reports whether the range serves them again: the neighbour lives, and
// does not take them later.
func (b *bucket) refused(t *turn, err error) bool {
	s, x := b.marker.Span, &b.split
	switch {
	case err == nil:
		return false
	case !errors.Is(err, table.ErrUnsupported):
		x.leave.number, s.Target = 0, 0 // it may have taken them and left: the catalog knows
		return false
	}
	b.marker.Span = &span.Span{Self: s.Self, Bounds: key.Range{Start: s.At, End: s.End}, Seq: s.Seq}
	b.marker.Put(t.rows)
	x.leave, x.due, x.failures, x.look = leaving{}, 0, 0, t.now+leaveAgain
	return true
}

// widen takes the keys of the left neighbour, which had no entities.
func (b *bucket) widen(t *turn, taking *message.Taking) Step {
	s, x := b.marker.Span, &b.split
	if !t.fields.Done() {
		taking.Number = t.fields.Uint64()
	}
	promise := x.promise
	if taking.Number == promise {
		x.promise = 0
	}
	switch start := b.marker.Bounds().Start; {
	case bytes.Compare(start, taking.Bounds.Start) <= 0:
		return t.done() // late: it has them
	case taking.Number != 0 && (taking.Number != promise || !bytes.Equal(start, taking.Bounds.End) || s.Leaving):
		return t.fail(table.ErrUnsupported) // and never takes them: see refused
	case !bytes.Equal(start, taking.Bounds.End) || s.Leaving:
		return t.fail(table.ErrBusy)
	}
	s.Bounds.Start = bytes.Clone(taking.Bounds.Start)
	b.above(taking.High)
	b.marker.Put(t.rows)
	return t.done()
}

// left ends the range: the catalog knows that another one has its keys.
func (b *bucket) left(t *turn) {
	t.rows.DeleteAll()
	b.marker, b.traffic = span.Marker{}, visits.Counts{}
	b.outbox.forget()
	b.clock.Reserved = 0
	b.split.reset(0)
}
