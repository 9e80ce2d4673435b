package engine

import (
	"bytes"
	"errors"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/span"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
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
func (b *bucket) leave(t *turn.Turn) turn.Step {
	s, x := b.marker.Span, &b.split
	x.leave = leaving{}
	switch {
	case s.Bounds.End == nil || !b.isEmpty(t):
		return t.Done()
	case !b.outbox.clear(t.Now):
		x.lookLater(t, b)
		return t.Done()
	case x.last != 0 && t.Now < x.last+leaveAfter && t.Now >= x.last:
		x.look = x.last + leaveAfter
		return t.Done()
	case x.promise != 0 && t.Now < x.stays && x.stays <= t.Now+promised:
		x.look = x.stays
		return t.Done()
	}
	x.leave = leaving{asks: true, last: x.last}
	return b.askForNeighbour(t)
}

func (b *bucket) isEmpty(t *turn.Turn) bool {
	from, to := rowBounds(b.marker.Bounds())
	return !storage.HasAny(t.Rows, from, to)
}

// lookIfEmpty lets a range leave whose earlier engine may have known that it would.
func (b *bucket) lookIfEmpty(t *turn.Turn) {
	if s := b.marker.Span; s != nil && s.Phase == span.Serving && s.Bounds.End != nil && b.isEmpty(t) {
		b.split.lookLater(t, b)
	}
}

// askForNeighbour asks the catalog for the map.
func (b *bucket) askForNeighbour(t *turn.Turn) turn.Step {
	self := &b.marker.Span.Self
	return b.call(t, durableobject.CatalogOf(self.Table, b.catalog), message.Ranges(nil, self.Table, self.Bucket), &turn.Continuation{Own: true})
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
func (b *bucket) leaves(t *turn.Turn, r message.Reader, err error) turn.Step {
	s, x := b.marker.Span, &b.split
	stays := func() turn.Step {
		x.leave, x.due, x.look = leaving{}, 0, t.Now+leaveAgain+edm.Ticks(x.rand()%uint64(5*leaveAgain))
		return t.Done()
	}
	if err != nil || t.Answers[0].Err != nil || !x.leave.asks || x.choice != nil || x.leave.last != x.last || !b.isEmpty(t) || !b.outbox.clear(t.Now) {
		return stays()
	}
	if t.Resumed.Own {
		if s.Target = b.neighbour(r, s.Bounds.Start, s.Bounds.End); s.Target == 0 {
			return stays()
		}
		p := b.target()
		return b.call(t, durableobject.AddressOf(&p), message.Offer(nil, &p, b.marker.Incarnation, s.Bounds.End), &turn.Continuation{})
	}
	if x.leave.number = r.Uint64(); !r.Done() || s.Target == 0 {
		return stays()
	}
	s.Phase, s.Sealed, s.Leaving = span.Sealed, t.Now, true
	s.At, s.End = s.Bounds.Start, s.Bounds.End
	s.Bounds.End = append([]byte{}, s.At...)
	return b.give(t)
}

// agree answers a left neighbour that wants to leave with a number, by which it may give its keys
// to this range: no other one, and no late message, has that. So a refusal is final.
func (b *bucket) agree(t *turn.Turn) turn.Step {
	p := t.Fields.Destination()
	incarnation, end := t.Fields.Incarnation(), t.Fields.Bytes()
	s, x := b.marker.Span, &b.split
	switch {
	case !t.Fields.Done():
		return t.Malformed()
	case !b.marker.Live || b.marker.Incarnation != incarnation || s == nil || s.Self.Range != p.Range:
		return t.Fail(table.ErrNoTable)
	case b.frozen.id != 0 || s.Phase == span.Filling || s.Leaving || x.leave.asks || !bytes.Equal(s.Bounds.Start, end):
		return t.Fail(table.ErrBusy)
	}
	x.promise, x.stays = x.rand()|1, t.Now+promised
	return turn.Step{Answer: message.DoneNumber(t.Dst, x.promise)}
}

// refused takes the answer of a neighbour that does not take the keys after all, as it restarted or
// gives its own away. It reports whether the range serves them again: the neighbour lives, and
// does not take them later.
func (b *bucket) refused(t *turn.Turn, err error) bool {
	s, x := b.marker.Span, &b.split
	switch {
	case err == nil:
		return false
	case !errors.Is(err, table.ErrUnsupported):
		x.leave.number, s.Target = 0, 0 // it may have taken them and left: the catalog knows
		return false
	}
	b.marker.Span = &span.Span{Self: s.Self, Bounds: key.Range{Start: s.At, End: s.End}, Seq: s.Seq}
	b.marker.Put(t.Rows)
	x.leave, x.due, x.failures, x.look = leaving{}, 0, 0, t.Now+leaveAgain
	return true
}

// widen takes the keys of the left neighbour, which had no entities.
func (b *bucket) widen(t *turn.Turn, taking *message.Taking) turn.Step {
	s, x := b.marker.Span, &b.split
	if !t.Fields.Done() {
		taking.Number = t.Fields.Uint64()
	}
	promise := x.promise
	if taking.Number == promise {
		x.promise = 0
	}
	switch start := b.marker.Bounds().Start; {
	case bytes.Compare(start, taking.Bounds.Start) <= 0:
		return t.Done() // late: it has them
	case taking.Number != 0 && (taking.Number != promise || !bytes.Equal(start, taking.Bounds.End) || s.Leaving):
		return t.Fail(table.ErrUnsupported) // and never takes them: see refused
	case !bytes.Equal(start, taking.Bounds.End) || s.Leaving:
		return t.Fail(table.ErrBusy)
	}
	s.Bounds.Start = bytes.Clone(taking.Bounds.Start)
	b.above(taking.High)
	b.marker.Put(t.Rows)
	return t.Done()
}

// left ends the range: the catalog knows that another one has its keys.
func (b *bucket) left(t *turn.Turn) {
	t.Rows.DeleteAll()
	b.marker, b.traffic = span.Marker{}, visits.Counts{}
	b.outbox.forget()
	b.clock.Reserved = 0
	b.split.reset(0)
}
