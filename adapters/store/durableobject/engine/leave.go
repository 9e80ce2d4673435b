package engine

import (
	"bytes"
	"errors"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/expiry"
	"edgetable/adapters/store/durableobject/internal/feed"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/span"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/adapters/store/durableobject/internal/visits"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// A range that is empty, or small and idle, gives its keys to its right neighbour and ends. It
// serves them until the neighbour has agreed to take them and has its entities, so that they wait
// for one exchange.

const (
	// leaveAfter is the time without a write after which an empty range leaves, and without
	// load after which a small one does.
	leaveAfter = 3600 * edm.TicksPerSecond
	// A small range asks no more that was idle for idleAfter: idle tables cost nothing.
	idleAfter = 16 * leaveAfter
	// leaveAgain is the time after which a range asks again whose neighbour did not agree, and
	// up to six times as long, so that neighbours do not ask at the same time again.
	leaveAgain = 10 * edm.TicksPerSecond
	// promised is the time for which a range stays whose neighbour may give it its keys.
	promised = 60 * edm.TicksPerSecond
	// A range with at most this part of the size at which it splits is small, see mayJoin.
	partOfSmall = 8
)

// leaving is how far a range is that wants to leave. It is forgotten with its engine: until the
// range seals or copies, nothing depends on it.
type leaving struct {
	asks bool      // the catalog for its neighbour, or this one whether it agrees
	last edm.Ticks // the last write then
	size int64     // of its entities, 0: there are none
}

// leave begins to leave, if the range is empty, or small and idle.
func (b *bucket) leave(t *turn.Turn) turn.Step {
	s, x := b.marker.Span, &b.split
	x.leave = leaving{}
	size, may := b.toGive(t)
	if !may {
		return t.Done()
	}
	since := x.last
	if size > 0 {
		b.outbox.joinBucket(t, &s.Self, b.marker.Incarnation) // or its neighbour would have to publish its entities
		since = x.load.BusyUntil(t.Now, x.rate)
	}
	switch {
	case !b.outbox.clear(t.Now):
		x.lookLater(t, b)
		return t.Done()
	case since != 0 && t.Now < since+leaveAfter && t.Now >= since:
		x.look = since + leaveAfter
		return t.Done()
	case x.promise != 0 && t.Now < x.stays && x.stays <= t.Now+promised:
		x.look = x.stays
		return t.Done()
	}
	x.leave = leaving{asks: true, last: x.last, size: size}
	return b.askForNeighbour(t)
}

// toGive is the size of the entities that the range would give to its neighbour. may is false if
// the range stays.
func (b *bucket) toGive(t *turn.Turn) (size int64, may bool) {
	switch s := b.marker.Span; {
	case s == nil || s.Phase != span.Serving || s.Bounds.End == nil:
		return 0, false
	case b.isEmpty(t):
		return 0, true
	}
	size = b.feed.Others(t.Rows.Size())
	return size, size <= b.split.bytes/partOfSmall
}

func (b *bucket) isEmpty(t *turn.Turn) bool {
	from, to := storage.Entities(b.marker.Bounds())
	return !storage.HasAny(t.Rows, from, to)
}

// lookIfSmall lets a range leave whose earlier engine may have known that it would. The clock
// knows when it wrote last.
func (b *bucket) lookIfSmall(t *turn.Turn) {
	x := &b.split
	x.last = min(b.clock.Last, t.Now)
	if size, may := b.toGive(t); may && size == 0 {
		x.look = max(t.Now+1, x.last+leaveAfter)
	} else if may {
		x.lookWhileIdle(t.Now)
	}
}

// lookWhileIdle lets a small range look again after as long as it has been idle, so that it looks
// five times at most.
func (x *splitting) lookWhileIdle(now edm.Ticks) {
	since := max(x.last, x.load.BusyUntil(now, x.rate))
	for wait := edm.Ticks(leaveAfter); wait <= idleAfter; wait *= 2 {
		if since+wait > now {
			x.look = since + wait
			return
		}
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
// neighbour. If it agrees, an empty range seals and gives it the keys at once; another one copies
// its entities first, as in a split.
func (b *bucket) leaves(t *turn.Turn, r message.Reader, err error) turn.Step {
	s, x := b.marker.Span, &b.split
	size, may := b.toGive(t)
	stays := func() turn.Step {
		if x.look = t.Now + leaveAgain + edm.Ticks(x.rand()%uint64(5*leaveAgain)); size > 0 && err != nil && !errors.Is(err, table.ErrBusy) {
			x.look = 0
			x.lookWhileIdle(t.Now)
		}
		x.leave, x.due = leaving{}, 0
		return t.Done()
	}
	if err != nil || t.Answers[0].Err != nil || !x.leave.asks || x.choice != nil || !may || !b.outbox.clear(t.Now) {
		return stays()
	}
	if (size == 0) != (x.leave.size == 0) || size == 0 && x.leave.last != x.last {
		return stays()
	}
	if t.Resumed.Own {
		if s.Target = b.neighbour(r, s.Bounds.Start, s.Bounds.End); s.Target == 0 {
			return stays()
		}
		p := b.target()
		return b.call(t, durableobject.AddressOf(&p), message.Offer(nil, &p, b.marker.Incarnation, s.Bounds.End, size), &turn.Continuation{})
	}
	number := r.Uint64()
	if !r.Done() || s.Target == 0 {
		return stays()
	}
	x.leave = leaving{}
	x.tell(&s.Self, span.JoinBegun)
	s.Leaving, s.Number, s.At, s.End = true, number, append([]byte{}, s.Bounds.Start...), s.Bounds.End
	if size > 0 {
		from, _ := storage.Entities(s.Bounds)
		s.Phase, s.From, s.Upto, s.Complete = span.Copying, from, from, false
		b.marker.Put(t.Rows)
		return b.copy(t)
	}
	s.Phase, s.Sealed, s.Bounds.End = span.Sealed, t.Now, s.At
	b.sealed(t)
	return b.give(t)
}

// agree answers a left neighbour that wants to leave with a number, by which it may give its keys
// to this range: no other one, and no late message, has that. So a refusal is final.
func (b *bucket) agree(t *turn.Turn) turn.Step {
	p := t.Fields.Destination()
	incarnation, end, size := t.Fields.Incarnation(), t.Fields.Bytes(), int64(0)
	if t.Fields.OK() && !t.Fields.Done() {
		size = int64(t.Fields.Uint64())
	}
	s, x := b.marker.Span, &b.split
	switch {
	case !t.Fields.Done():
		return t.Malformed()
	case !b.marker.Live || b.marker.Incarnation != incarnation || s == nil || s.Self.Range != p.Range:
		return t.Fail(table.ErrNoTable)
	case b.frozen.id != 0 || s.Phase == span.Filling || s.Leaving || x.leave.asks || !bytes.Equal(s.Bounds.Start, end):
		return t.Fail(table.ErrBusy)
	case b.cleans(t, true):
		return t.Fail(table.ErrBusy)
	case size != 0 && !b.mayJoin(t, size):
		return t.Fail(table.ErrUnsupported) // it is not worth asking again soon
	}
	x.promise, x.stays, x.received, x.joins = x.rand()|1, t.Now+promised, 0, size != 0
	if x.joins {
		x.due = x.stays
	}
	return turn.Step{Answer: message.DoneNumber(t.Dst, x.promise)}
}

// refused takes the answer of a neighbour that does not take the keys after all, as it restarted or
// gives its own away. It reports whether the range serves them again: the neighbour lives, and
// does not take them later. Another answer may come from one that took them and left. The catalog
// knows who has its keys, and that one knows whether it has these.
func (b *bucket) refused(t *turn.Turn, err error) bool {
	switch {
	case err == nil:
		return false
	case !errors.Is(err, table.ErrUnsupported):
		b.marker.Span.Target = 0
		return false
	}
	b.stay(t)
	return true
}

// stay leads a range that was about to leave back to serving.
func (b *bucket) stay(t *turn.Turn) {
	s, x := b.marker.Span, &b.split
	b.marker.Span = s.Serve(key.Range{Start: s.Bounds.Start, End: s.End})
	b.marker.Put(t.Rows)
	storage.Delete(t.Rows, []byte{storage.SpaceMarks}, []byte{storage.SpaceMarks + 1}, maxMarks)
	x.leave, x.due, x.failures, x.look = leaving{}, 0, 0, t.Now+leaveAgain
	x.tell(&s.Self, span.JoinRefused)
}

// widen takes the keys of the left neighbour. Its entities are there, but for what changed of late.
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
		return t.Done() // a late duplicate: this range already has the rows
	case taking.Number != 0 && (taking.Number != promise || !bytes.Equal(start, taking.Bounds.End) || s.Leaving || x.joins && taking.Replica != b.replica()):
		return t.Fail(table.ErrUnsupported) // and never takes them: see refused
	case !bytes.Equal(start, taking.Bounds.End) || s.Leaving:
		return t.Fail(table.ErrBusy)
	}
	if !b.putItems(t) {
		return t.MalformedPiece()
	}
	s.Bounds.Start = bytes.Clone(taking.Bounds.Start)
	b.above(taking.High)
	b.feed.Took(t.Rows, message.FeedTook, taking.From, taking.Cut, b.issue(t))
	b.marker.Put(t.Rows)
	b.outbox.start = s.Bounds.Start
	x.joins, x.only = false, nil
	b.declared(t)
	b.room.Look()
	x.lookLater(t, b)
	return t.Done()
}

// left ends the range: the catalog knows that another one has its keys.
func (b *bucket) left(t *turn.Turn) {
	b.feed.End(t.Rows, feed.Left, b.issue(t))
	feed.DeleteAll(t.Rows)
	b.marker, b.traffic, b.sweep = span.Marker{}, visits.Counts{}, expiry.Sweep{}
	b.outbox.forget()
	b.clock.Reserved = 0
	b.split.reset(0)
}
