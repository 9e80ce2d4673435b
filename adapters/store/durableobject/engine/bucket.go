package engine

import (
	"errors"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/answers"
	"edgetable/adapters/store/durableobject/internal/clock"
	"edgetable/adapters/store/durableobject/internal/expiry"
	"edgetable/adapters/store/durableobject/internal/feed"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/outbox"
	"edgetable/adapters/store/durableobject/internal/room"
	"edgetable/adapters/store/durableobject/internal/span"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/adapters/store/durableobject/internal/visits"
	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/core/traffic"
)

// bucket serves the entities of one bucket of a table, or of one range of a bucket.
type bucket struct {
	clock   *clock.Clock
	room    *room.Room
	outbox  *outbox.Outbox
	answers *answers.Memory
	catalog string // the location of the catalogs

	marker  span.Marker
	traffic visits.Counts
	split   splitting
	frozen  frozen
	sweep   expiry.Sweep
	feed    feed.Feed
	// generation is a number in each question to the catalog. Events such as a drop change the number, so that the
	// bucket ignores answers to earlier questions. It begins with a random number, so that this also works after a
	// restart.
	generation uint64
	ended      table.Incarnation // the incarnation that the catalog last reported as being deleted

	key []byte
}

// serve checks that the table exists and that the object has the key k. If ok is false, the caller must return the
// second result as its step.
func (b *bucket) serve(t *turn.Turn, p *message.Destination, k []byte) (ok bool, instead turn.Step) {
	if held, instead := b.checkFrozen(t); held {
		return false, instead
	}
	switch s := b.marker.Span; {
	case b.marker.Has(k):
		b.outbox.JoinBucket(t, p, b.marker.Incarnation)
		return true, turn.Step{}
	case b.marker.Live && s.Phase == span.Sealed && s.Gives(k):
		return false, t.Fail(message.ErrAgain)
	case b.marker.Live && s.Phase != span.Filling:
		b.outbox.JoinBucket(t, p, b.marker.Incarnation)
	}
	l, instead := b.askCatalog(t, p)
	if l == nil {
		return false, instead
	}
	switch id, _ := l.Ranges.Find(k); {
	case id == p.Range && (b.marker.Live || len(l.Ranges) > 0):
		// The catalog has not recorded yet that the key moved, or this object lost its rows. In both cases, the sender
		// must retry.
		return false, t.Fail(message.ErrAgain)
	case id != p.Range:
		return false, turn.Step{Answer: message.MovedTo(t.Dst, p.Bucket, l.Ranges, k)}
	}
	b.marker = span.Marker{Live: true, Incarnation: l.Incarnation, Floor: l.Floor, Traits: l.traits}
	b.marker.Put(t.Rows)
	b.feed.Load(t.Rows, l.Incarnation, l.traits)
	b.clock.Last = max(b.clock.Last, l.Floor)
	b.outbox.JoinBucket(t, p, b.marker.Incarnation)
	return true, turn.Step{}
}

// tableInfo is the catalog's information about a table and one of its buckets.
type tableInfo struct {
	message.Located
	message.Named
	traits *table.Traits // the options that the table declares, such as expiry
}

// askCatalog returns the catalog's information about an existing table and this bucket. If l is nil, the caller must
// return the second result as its step.
func (b *bucket) askCatalog(t *turn.Turn, p *message.Destination) (l *tableInfo, instead turn.Step) {
	c := &t.Resumed
	if c.Kind != turn.Locates || c.Generation != b.generation || len(t.Answers) != 1 {
		return nil, b.locate(p, 0)
	}
	if t.Answers[0].Err != nil {
		if c.Round+1 < turn.Rounds {
			return nil, b.locate(p, c.Round+1)
		}
		return nil, t.Fail(table.ErrBusy)
	}
	r, err := message.Result(t.Answers[0].Message)
	l = &tableInfo{Located: r.Located(), Named: r.Named()}
	if r.OK() && !r.Done() {
		l.traits = r.Traits()
	}
	switch {
	case errors.Is(err, table.ErrNoTable):
		return nil, t.Fail(table.ErrNoTable)
	case err != nil || !r.Done():
		return nil, t.Fail(table.ErrBusy)
	case l.Layout.Buckets != p.Buckets || l.Layout.Location != p.Location:
		// The sender assumed another layout. Answer with the correct layout even if the table is being deleted, because
		// only an object that had the table may report the deletion.
		return nil, turn.Step{Answer: message.Moved(t.Dst, l.Layout)}
	case l.Deleting || l.Incarnation == b.ended:
		// A delayed answer of the catalog may still say that this incarnation exists.
		b.ended = l.Incarnation
		return nil, t.Fail(table.ErrNoTable)
	}
	return l, turn.Step{}
}

// locate asks the catalog for the layout of the table and the ranges of the bucket. It also reports keys that have
// moved to a new range.
func (b *bucket) locate(p *message.Destination, round byte) turn.Step {
	m := message.Ranges(nil, p.Table, p.Bucket)
	if s := b.marker.Span; b.marker.Live && s != nil && s.Phase == span.Moved && !s.Leaving {
		m = b.splitMessage(message.OpSwitch)
	}
	return turn.Step{
		Calls: []durableobject.Call{{To: durableobject.CatalogOf(p.Table, b.catalog), Message: m}},
		Next:  &turn.Continuation{Kind: turn.Locates, Generation: b.generation, Round: round},
	}
}

// entityKey returns the key of an entity's row. The result is valid until the next call.
func (b *bucket) entityKey(k []byte) []byte {
	b.key = append(append(b.key[:0], storage.SpaceEntities), k...)
	return b.key
}

func (b *bucket) get(t *turn.Turn) turn.Step {
	p := t.Fields.Destination()
	k := t.Fields.Bytes()
	if !t.Fields.Done() {
		return t.Malformed()
	}
	if ok, instead := b.serve(t, &p, k); !ok {
		return instead
	}
	v, ok := t.Rows.Get(b.entityKey(k))
	step := turn.Step{Answer: append(message.Done(t.Dst), v...)}
	if !ok || b.hides(t, k, v) {
		step = t.Fail(table.ErrNoEntity)
	}
	b.traffic.Read(t.Rows, t.Now, k, len(k)+len(v))
	b.split.visited(t, b, &p, k)
	return step
}

// issue returns a function that issues a Timestamp for a line or mark of the feed.
func (b *bucket) issue(t *turn.Turn) func() edm.Ticks {
	return func() edm.Ticks {
		at := b.clock.Next(t.Now, 0, 1)
		b.clock.Issue(t.Rows, at)
		return at
	}
}

// drop ends an incarnation and answers with its highest Timestamp. The object keeps this Timestamp until OpForget,
// because the answer may be lost.
func (b *bucket) drop(t *turn.Turn) turn.Step {
	incarnation := t.Fields.Incarnation()
	if !t.Fields.Done() {
		return t.Malformed()
	}
	b.generation++
	if b.marker.Live && b.marker.Incarnation != incarnation {
		return t.DoneTicks(0) // the object serves a later incarnation, which exists only after this incarnation was dropped
	}
	b.answers.Life++
	if b.marker.Live {
		b.feed.End(t.Rows, feed.Dropped, b.issue(t))
		feed.DeleteAll(t.Rows)
		b.marker, b.traffic, b.frozen, b.sweep = span.Marker{}, visits.Counts{}, frozen{}, expiry.Sweep{}
		b.outbox.Forget()
		b.split.reset(0)
		b.clock.Reserved = b.clock.Last
		if b.clock.Last > 0 {
			storage.PutTicks(t.Rows, clock.Row, b.clock.Last)
		}
	}
	return t.DoneTicks(b.clock.Reserved)
}

// forgetDropped removes the highest Timestamp that drop retained, after the catalog has recorded it.
func (b *bucket) forgetDropped(t *turn.Turn) turn.Step {
	high := t.Fields.Ticks()
	if !t.Fields.Done() {
		return t.Malformed()
	}
	if !b.marker.Live && b.frozen.id == 0 && b.clock.Reserved <= high {
		feed.DeleteAll(t.Rows)
		b.clock.Reserved = 0
	}
	return t.Done()
}

// reportTraffic answers with the traffic counts of the object, the bounds of its keys and its size.
func (b *bucket) reportTraffic(t *turn.Turn) turn.Step {
	p := t.Fields.Destination()
	if !t.Fields.Done() {
		return t.Malformed()
	}
	if ok, instead := b.serve(t, &p, b.marker.Bounds().Start); !ok {
		return instead
	}
	now, before := b.traffic.Tell(t.Rows, t.Now)
	answer, since := message.AppendBytes(message.AppendBytes(message.Done(t.Dst), now), before), edm.Ticks(0)
	if s := b.marker.Span; s != nil {
		since = s.Since
	}
	return turn.Step{Answer: message.AppendBytes(answer, traffic.AppendRange(nil, p.Bucket, b.marker.Bounds(), t.Rows.Size(), since))}
}
