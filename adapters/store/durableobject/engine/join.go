package engine

import (
	"edgetable/adapters/store/durableobject/internal/span"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// A small and idle range copies its entities to its right neighbour before it hands over the keys. Until then, no
// request reads the copies. If the keys do not arrive, the neighbour deletes the copies.

// mayJoin reports whether the range accepts size bytes of entities from its left neighbour.
//
// The merged range must be so small that it does not soon split again. The left neighbour must not be much larger than
// this range, so that an entity moves only a few times.
func (b *bucket) mayJoin(t *turn.Turn, size int64) bool {
	s, x := b.marker.Span, &b.split
	own, busy := b.feed.OtherSize(t.Rows.Size()), x.load.BusyUntil(t.Now, x.rate)
	switch {
	case s.Phase != span.Serving || x.choice != nil || !b.outbox.IsSynced():
		return false
	case busy != 0 && busy+leaveAfter > t.Now:
		return false
	}
	return own+size <= x.bytes/2 && size <= max(2*own, pieceBytes)
}

// join stores a chunk of the left neighbour's entities.
func (b *bucket) join(t *turn.Turn) turn.Step {
	t.Fields.Destination()
	incarnation, number, seq := t.Fields.Incarnation(), t.Fields.Uint64(), t.Fields.Uint64()
	s, x := b.marker.Span, &b.split
	switch {
	case !t.Fields.OK():
		return t.Malformed()
	case !b.marker.Live || b.marker.Incarnation != incarnation || s == nil:
		return t.Fail(table.ErrNoTable)
	case b.frozen.id != 0 || !x.joins || number != x.promise || s.Phase != span.Serving:
		return t.Fail(table.ErrUnsupported)
	case seq <= x.received:
		return t.Done() // the message is a duplicate that arrived late
	case b.room.Full(t.Rows):
		return t.Fail(table.ErrUnsupported)
	}
	if !b.putItems(t) {
		return t.MalformedPiece()
	}
	x.received, x.stays = seq, t.Now+promised
	x.due = x.stays
	return t.Done()
}

// awaitsCopies reports whether this range waits for copies from its left neighbour. Until they arrive, it neither
// splits nor merges.
func (x *splitting) awaitsCopies(now edm.Ticks) bool {
	return x.joins && x.promise != 0 && now < x.stays && x.stays <= now+promised
}

// deleteCopies deletes copies from a left neighbour that did not hand over its keys. It reports whether copies remain
// or may arrive. If final is true, later copies are refused.
func (b *bucket) deleteCopies(t *turn.Turn, final bool) bool {
	x := &b.split
	if x.awaitsCopies(t.Now) && !final {
		x.due = x.stays
		return true
	}
	if x.joins {
		x.promise, x.joins = 0, false
	}
	from, to := b.belowOwn()
	n := storage.Delete(t.Rows, from, to, emptyRows)
	if n > 0 {
		b.room.Look()
	}
	if n == emptyRows {
		x.due = t.Now // the alarm continues at once
	}
	return n == emptyRows
}

// belowOwn returns the bounds of the rows of entities below the range's own keys.
func (b *bucket) belowOwn() (from, to []byte) {
	return storage.Entities(key.Range{End: append([]byte{}, b.marker.Bounds().Start...)})
}

// hasBelow reports whether the object has copies of entities below its own keys, from before a restart. A range that is
// still receiving its first entities has no such copies.
func (b *bucket) hasBelow(t *turn.Turn) bool {
	s := b.marker.Span
	if s == nil || s.Phase == span.Filling || len(s.Bounds.Start) == 0 {
		return false
	}
	from, to := b.belowOwn()
	return storage.HasAny(t.Rows, from, to)
}

// givesUp cancels the merge if the neighbour refuses the copies or does not answer, and reports whether the merge is
// cancelled. The range still serves all its keys.
func (b *bucket) givesUp(t *turn.Turn, err error) bool {
	s, x := b.marker.Span, &b.split
	lost := t.Answers[0].Err != nil
	if s.Phase != span.Copying || !s.Leaving || lost && x.failures < 3 || !lost && err == nil {
		return false
	}
	b.cancelMerge(t)
	x.look = 0
	x.lookWhileIdle(t.Now)
	return true
}
