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

// A range that is empty, or small and idle, merges into its right neighbour. In identifiers, this is called "leave".
//
// The range asks the neighbour, copies its entities, hands over its keys, and ends. Requests wait only for the last
// exchange of messages.

const (
	// idleAfter is the time without load after which a small range stops trying to merge, so that idle tables cost
	// nothing.
	idleAfter = 16 * leaveAfter
	// leaveAgain is the time after which a range repeats its question to a neighbour that did not agree. A random delay
	// is added, so that two neighbours do not ask each other at the same time.
	leaveAgain = 10 * edm.TicksPerSecond
	// promised is the time for which a range waits for the keys of its left neighbour after it has agreed to take them.
	// During this time, the range does not merge into its own right neighbour.
	promised = 60 * edm.TicksPerSecond
	// A range is small if it has at most 1/partOfSmall of the size at which it splits: see mayJoin.
	partOfSmall = 8
)

// mergeRequest is the progress of a range that asks whether it can merge. It is not stored, because the range has not
// changed anything yet.
type mergeRequest struct {
	asks bool      // whether the range waits for an answer of the catalog or of its neighbour
	last edm.Ticks // the time of the last write before the range asked whether it can merge
	size int64     // the size of the range's entities, 0 if there are none
}

// startLeaving starts a merge into the right neighbour if the range is empty, or small and idle.
func (b *bucket) startLeaving(t *turn.Turn) turn.Step {
	s, x := b.marker.Span, &b.split
	x.leave = mergeRequest{}
	size, may := b.toGive(t)
	if !may {
		return t.Done()
	}
	since := x.last
	if size > 0 {
		b.outbox.JoinBucket(t, &s.Self, b.marker.Incarnation) // otherwise the neighbour would have to publish these entities later
		since = x.load.BusyUntil(t.Now, x.rate)
	}
	switch {
	case !b.outbox.IsCaughtUp(t.Now):
		x.lookLater(t, b)
		return t.Done()
	case since != 0 && t.Now < since+leaveAfter && t.Now >= since:
		x.look = since + leaveAfter
		return t.Done()
	case x.promise != 0 && t.Now < x.stays && x.stays <= t.Now+promised:
		x.look = x.stays
		return t.Done()
	}
	x.leave = mergeRequest{asks: true, last: x.last, size: size}
	return b.askForNeighbour(t)
}

// toGive returns the size of the entities that a merge would hand over, and whether the range may merge.
func (b *bucket) toGive(t *turn.Turn) (size int64, mayMerge bool) {
	switch s := b.marker.Span; {
	case s == nil || s.Phase != span.Serving || s.Bounds.End == nil:
		return 0, false
	case b.isEmpty(t):
		return 0, true
	}
	size = b.feed.OtherSize(t.Rows.Size())
	return size, size <= b.split.bytes/partOfSmall
}

func (b *bucket) isEmpty(t *turn.Turn) bool {
	from, to := storage.Entities(b.marker.Bounds())
	return !storage.HasAny(t.Rows, from, to)
}

// lookIfSmall schedules, after a restart, the check whether the range can merge. It uses the last issued Timestamp
// instead of the unknown time of the last write.
func (b *bucket) lookIfSmall(t *turn.Turn) {
	x := &b.split
	x.last = min(b.clock.Last, t.Now)
	if size, may := b.toGive(t); may && size == 0 {
		x.look = max(t.Now+1, x.last+leaveAfter)
	} else if may {
		x.lookWhileIdle(t.Now)
	}
}

// lookWhileIdle schedules the next check whether a small range can merge. The checks follow after 1, 2, 4, 8 and 16
// hours without load; there is no later check.
func (x *splitting) lookWhileIdle(now edm.Ticks) {
	since := max(x.last, x.load.BusyUntil(now, x.rate))
	for wait := edm.Ticks(leaveAfter); wait <= idleAfter; wait *= 2 {
		if since+wait > now {
			x.look = since + wait
			return
		}
	}
}

// askForNeighbour asks the catalog for the list of the bucket's ranges.
func (b *bucket) askForNeighbour(t *turn.Turn) turn.Step {
	self := &b.marker.Span.Self
	return b.call(t, durableobject.CatalogOf(self.Table, b.catalog), message.Ranges(nil, self.Table, self.Bucket), &turn.Continuation{Own: true})
}

// neighbour returns the id of the right neighbour in the catalog's list of ranges, or 0 if this list does not have the
// given bounds yet.
func (b *bucket) neighbour(r message.Reader, start, end []byte) uint32 {
	known, ok := b.readMap(r)
	own, _ := known.Ranges.Bounds(b.marker.Span.Self.Range)
	id, bounds := known.Ranges.Find(end)
	if !ok || !bytes.Equal(own.Start, start) || !bytes.Equal(own.End, end) || !bytes.Equal(bounds.Start, end) {
		return 0
	}
	return id
}

// acceptLeaveAnswer handles the answers of the catalog and of the neighbour to a range that wants to merge. An empty
// range then hands over its keys. Any other range first copies its entities.
func (b *bucket) acceptLeaveAnswer(t *turn.Turn, r message.Reader, err error) turn.Step {
	s, x := b.marker.Span, &b.split
	size, may := b.toGive(t)
	stays := func() turn.Step {
		if x.look = t.Now + leaveAgain + edm.Ticks(x.rand()%uint64(5*leaveAgain)); size > 0 && err != nil && !errors.Is(err, table.ErrBusy) {
			x.look = 0
			x.lookWhileIdle(t.Now)
		}
		x.leave, x.due = mergeRequest{}, 0
		return t.Done()
	}
	if err != nil || t.Answers[0].Err != nil || !x.leave.asks || x.choice != nil || !may || !b.outbox.IsCaughtUp(t.Now) {
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
	x.leave = mergeRequest{}
	x.reportEvent(&s.Self, span.JoinBegun)
	s.Leaving, s.Number, s.At, s.End = true, number, append([]byte{}, s.Bounds.Start...), s.Bounds.End
	if size > 0 {
		from, _ := storage.Entities(s.Bounds)
		s.Phase, s.From, s.Upto, s.Complete = span.Copying, from, from, false
		b.marker.Put(t.Rows)
		return b.copy(t)
	}
	s.Phase, s.Sealed, s.Bounds.End = span.Sealed, t.Now, s.At
	b.recordSeal(t)
	return b.sendLastPiece(t)
}

// agree answers a left neighbour that asks to merge into this range. The answer is a random number, which the message
// with the keys must contain, so that late messages are refused.
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
	case b.deleteCopies(t, true):
		return t.Fail(table.ErrBusy)
	case size != 0 && !b.mayJoin(t, size):
		return t.Fail(table.ErrUnsupported) // unlike ErrBusy, ErrUnsupported tells the neighbour not to ask again soon
	}
	x.promise, x.stays, x.received, x.joins = x.rand()|1, t.Now+promised, 0, size != 0
	if x.joins {
		x.due = x.stays
	}
	return turn.Step{Answer: message.DoneNumber(t.Dst, x.promise)}
}

// handleRefusal handles an error of the neighbour to which this range handed over its keys.
//
// After ErrUnsupported, this range serves the keys again, and the result is true. After any other error, the neighbour
// may have the keys, so this range asks the catalog which range must receive them.
func (b *bucket) handleRefusal(t *turn.Turn, err error) bool {
	switch {
	case err == nil:
		return false
	case !errors.Is(err, table.ErrUnsupported):
		b.marker.Span.Target = 0
		return false
	}
	b.cancelMerge(t)
	return true
}

// cancelMerge cancels the merge: the range serves its keys again.
func (b *bucket) cancelMerge(t *turn.Turn) {
	s, x := b.marker.Span, &b.split
	b.marker.Span = s.Serve(key.Range{Start: s.Bounds.Start, End: s.End})
	b.marker.Put(t.Rows)
	storage.Delete(t.Rows, []byte{storage.SpaceMarks}, []byte{storage.SpaceMarks + 1}, maxMarks)
	x.leave, x.due, x.failures, x.look = mergeRequest{}, 0, 0, t.Now+leaveAgain
	x.reportEvent(&s.Self, span.JoinRefused)
}

// widen takes over the keys of the left neighbour. The object has all their entities already, except the latest changes.
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
		return t.Done() // the message is a duplicate: this range already has the rows
	case taking.Number != 0 && (taking.Number != promise || !bytes.Equal(start, taking.Bounds.End) || s.Leaving || x.joins && taking.Replica != b.outbox.Replica()):
		return t.Fail(table.ErrUnsupported) // the sender treats this error as final: see handleRefusal
	case !bytes.Equal(start, taking.Bounds.End) || s.Leaving:
		return t.Fail(table.ErrBusy)
	}
	if !b.putItems(t) {
		return t.MalformedPiece()
	}
	s.Bounds.Start = bytes.Clone(taking.Bounds.Start)
	b.raiseClock(taking.High)
	b.feed.RecordReceived(t.Rows, message.FeedTook, taking.From, taking.Cut, b.issue(t))
	b.marker.Put(t.Rows)
	b.outbox.Keys.Start = s.Bounds.Start
	x.joins, x.only = false, nil
	b.restartSweep(t)
	b.room.Look()
	x.lookLater(t, b)
	return t.Done()
}

// endRange deletes the range after the catalog has recorded that another range has its keys.
func (b *bucket) endRange(t *turn.Turn) {
	b.feed.End(t.Rows, feed.Left, b.issue(t))
	feed.DeleteAll(t.Rows)
	b.marker, b.traffic, b.sweep = span.Marker{}, visits.Counts{}, expiry.Sweep{}
	b.outbox.Forget()
	b.clock.Reserved = 0
	b.split.reset(0)
}
