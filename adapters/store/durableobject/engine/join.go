package engine

import (
	"edgetable/adapters/store/durableobject/internal/span"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// A small and idle range copies its entities to its right neighbour before it gives the keys away. The neighbour
// stores them below its own keys, where nothing reads them. If its engine ends, or the keys do not arrive, it
// deletes them: the engine keeps its promise only in memory.

// mayJoin reports whether the range accepts size bytes of entities of its left neighbour.
//
// The left neighbour may have at most an eighth of the size at which a range splits, and both together
// at most half of it, so that they do not split again. The left neighbour may have at most twice the
// size of this range. So whenever an entity moves, the range that it is in grows by half, and an entity
// moves only a few times. Entities that fit into one piece may always move.
func (b *bucket) mayJoin(t *turn.Turn, size int64) bool {
	s, x := b.marker.Span, &b.split
	own, busy := b.feed.Others(t.Rows.Size()), x.load.BusyUntil(t.Now, x.rate)
	switch {
	case s.Phase != span.Serving || x.choice != nil || b.outbox.on && b.outbox.sync != nil:
		return false
	case busy != 0 && busy+leaveAfter > t.Now:
		return false
	}
	return own+size <= x.bytes/2 && size <= max(2*own, pieceBytes)
}

// join stores a piece of the left neighbour's entities.
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
		return t.Done() // a late duplicate
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

// waits reports whether the left neighbour may be copying its entities to this range. Until it is
// finished, this range neither splits nor leaves.
func (x *splitting) waits(now edm.Ticks) bool {
	return x.joins && x.promise != 0 && now < x.stays && x.stays <= now+promised
}

// cleans deletes entities that a left neighbour copied without giving its keys. It reports whether more
// are left, or may still arrive. With ended, entities that arrive from now on are refused.
func (b *bucket) cleans(t *turn.Turn, ended bool) bool {
	x := &b.split
	if x.waits(t.Now) && !ended {
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
		x.due = t.Now // the alarm rings at once
	}
	return n == emptyRows
}

// belowOwn returns the bounds of the rows of entities below the keys of the range.
func (b *bucket) belowOwn() (from, to []byte) {
	return storage.Entities(key.Range{End: append([]byte{}, b.marker.Bounds().Start...)})
}

// hasBelow reports whether the object has entities below the keys of its range, copied by a neighbour whose
// promise an earlier engine forgot. The range's own split may be in any phase but Filling.
func (b *bucket) hasBelow(t *turn.Turn) bool {
	s := b.marker.Span
	if s == nil || s.Phase == span.Filling || len(s.Bounds.Start) == 0 {
		return false
	}
	from, to := b.belowOwn()
	return storage.HasAny(t.Rows, from, to)
}

// givesUp reports whether a range that copies its entities to its neighbour stays instead, because the
// neighbour refuses them or does not answer. The range still serves all its keys.
func (b *bucket) givesUp(t *turn.Turn, err error) bool {
	s, x := b.marker.Span, &b.split
	lost := t.Answers[0].Err != nil
	if s.Phase != span.Copying || !s.Leaving || lost && x.failures < 3 || !lost && err == nil {
		return false
	}
	b.stay(t)
	x.look = 0
	x.lookWhileIdle(t.Now)
	return true
}
