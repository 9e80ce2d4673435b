package engine

import (
	"bytes"

	"edgetable/adapters/store/durableobject/internal/feed"
	"edgetable/adapters/store/durableobject/internal/listing"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/span"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/table"
)

// lines answers the message OpLines with lines of the feed, one for each commit. It never asks the catalog whether the object has the table.
func (b *bucket) lines(t *turn.Turn) turn.Step {
	t.Fields.Destination()
	q := t.Fields.FeedQuestion()
	s := b.marker.Span
	switch {
	case !t.Fields.Done():
		return t.Malformed()
	case b.frozen.id != 0:
		return t.Fail(table.ErrBusy)
	case b.marker.Live && b.marker.Incarnation == q.Life && s != nil && s.Phase == span.Filling:
		return turn.Step{Answer: message.AppendFeedAnswer(t.Dst, &message.FeedAnswer{State: message.FeedWaits, Next: q.From})}
	}
	answer, err := b.feed.Answer(t.Dst, b.feedReader(t), b.marker.Incarnation, b.marker.Live, &q)
	if err != nil {
		return t.Fail(err)
	}
	return turn.Step{Answer: answer}
}

// readMoved answers OpLook. It adds current entities to lines of another range's feed, because the entities have moved
// to this range.
func (b *bucket) readMoved(t *turn.Turn) turn.Step {
	p := t.Fields.Destination()
	incarnation, first, within := t.Fields.Incarnation(), t.Fields.Bytes(), t.Fields.Bounds()
	if !t.Fields.OK() {
		return t.Malformed()
	}
	if ok, instead := b.serve(t, &p, first); !ok {
		return instead
	}
	if b.marker.Incarnation != incarnation {
		return t.Fail(table.ErrNoTable)
	}
	r := b.feedReader(t)
	answer, ok, err := r.Look(message.Done(t.Dst), t.Fields, within)
	switch {
	case err != nil:
		return t.Fail(err)
	case !ok:
		return t.Malformed()
	}
	return turn.Step{Answer: answer}
}

func (b *bucket) feedReader(t *turn.Turn) feed.Reader {
	r := feed.Reader{Rows: t.Rows, Now: t.Now, Clock: b.clock, Traits: b.marker.Traits, Has: b.marker.Has}
	r.Read = func(k []byte) (*table.Row, error) {
		v, ok := t.Rows.Get(b.entityKey(k))
		if !ok {
			return nil, nil
		}
		row, err := table.ParseRow(bytes.Clone(k), bytes.Clone(v))
		return &row, err
	}
	if b.split.gives(b.marker.Span) {
		r.Unknown = b.marker.Span.Target
	}
	return r
}

// declareFeed starts or stops the feed when the table's declared options change.
func (b *bucket) declareFeed(t *turn.Turn) {
	began := b.feed.Declared(t.Rows, b.marker.Incarnation, b.marker.Traits, b.issue(t))
	if began && b.split.gives(b.marker.Span) {
		b.feed.Sealed(t.Rows, b.marker.Span.Target, b.issue(t))
	}
}

// isFull reports whether the object is full, after it has removed as many old days of the feed as needed, but never the
// last day.
func (b *bucket) isFull(t *turn.Turn) bool {
	for b.room.Full(t.Rows) {
		if !b.feed.Shed(t.Rows) {
			return true
		}
	}
	return false
}

// trim removes lines of feeds that are too old. If the object then has no feed and no table, trim deletes all its rows.
func (b *bucket) trim(t *turn.Turn) {
	if b.feed.Trim(t.Rows, t.Now) && !b.marker.Live && b.clock.Reserved == 0 {
		t.Rows.DeleteAll()
	}
}

// feeds answers with the objects that have the feed of a table and, on request, with the end of the feed in some of
// them.
func (c *catalog) feeds(t *turn.Turn) turn.Step {
	key, from, ends := t.Fields.Text(), t.Fields.Size(), t.Fields.Bool()
	if !t.Fields.Done() {
		return t.Malformed()
	}
	c.outbox.JoinCatalog(t, key, c.location)
	rec, ok, instead := c.current(t, key)
	switch {
	case !ok:
		return instead
	case c.restores(t, &rec):
		return t.Fail(table.ErrBusy)
	}
	return listing.Feeds(t, &rec, from, ends)
}
