package engine

import (
	"errors"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/record"
	"edgetable/adapters/store/durableobject/internal/restoring"
	"edgetable/adapters/store/durableobject/internal/span"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// The catalog assigns an id to each range. It records a new range before the range writes a row, so that a drop of the
// table reaches every range.

// maxBegun is the maximum number of new ranges of a table that are filled at the same time.
const maxBegun = 4

// tellRanges answers with the incarnation and layout of a table, and with the ranges of one of its buckets.
func (c *catalog) tellRanges(t *turn.Turn) turn.Step {
	key, bucket := t.Fields.Text(), t.Fields.Bucket()
	if !t.Fields.Done() {
		return t.Malformed()
	}
	c.outbox.JoinCatalog(t, key, c.location)
	rec, err := record.Load(t.Rows, key)
	if c.restores(t, &rec) {
		err = table.ErrBusy
	}
	if err == nil && rec.IsTable() {
		var n message.Named
		if n, err = record.NamedIn(t.Room(), t.Rows, &rec, bucket); err == nil {
			return c.answerRanges(t, &rec, &n)
		}
	}
	if err == nil {
		err = table.ErrNoTable
	}
	return t.Fail(err)
}

func (c *catalog) answerRanges(t *turn.Turn, rec *record.Record, n *message.Named) turn.Step {
	answer := message.AppendNamed(message.AppendLocated(t.Dst, &message.Located{
		Incarnation: rec.Incarnation, Layout: rec.Layout, Floor: rec.Floor, Deleting: rec.Deleting,
	}), n)
	if rec.Traits != nil { // an earlier version of the code does not understand this field
		answer = message.AppendTraits(answer, rec.Traits)
	}
	return turn.Step{Answer: answer}
}

// splitRequest is a message about a split, with the table's record and the ranges of the bucket that splits.
type splitRequest struct {
	message.Splitting
	rec record.Record
	message.Named
}

// splitting parses a message about a split, and loads the table's record and the bucket's ranges. If it returns an
// error, the error is the answer to the message.
func (c *catalog) splitting(t *turn.Turn) (s *splitRequest, instead error) {
	s = &splitRequest{Splitting: t.Fields.Splitting()}
	if !t.Fields.Done() {
		return s, errMalformed
	}
	var err error
	s.rec, err = record.Load(t.Rows, s.Table)
	switch {
	case err != nil:
	case !s.rec.IsTable() || s.rec.Deleting || s.rec.Incarnation != s.Incarnation || s.Bucket >= s.rec.Layout.Buckets:
		err = table.ErrNoTable
	case c.restores(t, &s.rec):
		err = table.ErrBusy
	default:
		s.Named, err = record.NamedIn(t.Room(), t.Rows, &s.rec, s.Bucket)
	}
	return s, err
}

var errMalformed = errors.New("durableobject: malformed message")

// beginRange records a new range for the upper keys of another range, and answers with its id. Repeated messages about
// the same split get the same id.
func (c *catalog) beginRange(t *turn.Turn) turn.Step {
	s, err := c.splitting(t)
	if err != nil {
		return t.Fail(err)
	}
	for i := range s.Begun {
		switch b := &s.Begun[i]; {
		case b.From == s.From && string(b.At) == string(s.At):
			return t.DoneID(b.ID)
		case b.From == s.From:
			return t.Fail(table.ErrUnsupported) // the message is about an earlier split of the range
		}
	}
	last := storage.Ticks(t.Rows, storage.RowLastRange)
	first := last == 0
	last += edm.Ticks(s.UnusedClass(uint32(last), span.Classes(s.rec.Layout.Buckets)))
	id := uint32(last + 1)
	if _, fits := s.Ranges.Split(s.From, id, s.At); !fits || last+1 >= 1<<32 {
		return t.Fail(table.ErrUnsupported) // the message arrived late, or all ids are used
	}
	objects, begun := record.Objects(t.Rows, &s.rec)
	if begun >= maxBegun || len(objects) >= message.MostRanges(s.rec.Layout.Buckets) {
		return t.Fail(table.ErrBusy)
	}
	if first {
		storage.PutTicks(t.Rows, storage.RowHistory, 0) // this is the first split in this catalog, so the history of the ranges is complete from here on
	}
	storage.PutTicks(t.Rows, storage.RowLastRange, last+1)
	s.Begun = append(s.Begun, message.Begun{ID: id, From: s.From, At: s.At})
	c.writeRanges(t, s)
	return t.DoneID(id)
}

// switchRange records that a range now serves the keys of another range, and answers with the bucket's ranges.
func (c *catalog) switchRange(t *turn.Turn) turn.Step {
	s, err := c.splitting(t)
	if err != nil {
		return t.Fail(err)
	}
	ok := false
	change := restoring.Change{Sealed: s.Sealed, From: s.From, To: s.To}
	if s.To == 0 {
		change.Keys, _ = s.Ranges.Bounds(s.From)
		s.Ranges, ok = s.Ranges.Join(s.From)
	}
	for i, b := range s.Begun {
		if s.To != 0 && b.ID == s.To {
			s.Ranges, ok = s.Ranges.Split(b.From, b.ID, b.At)
			s.Begun = append(s.Begun[:i:i], s.Begun[i+1:]...)
			break
		}
	}
	if ok {
		c.room.Wrote(restoring.Remember(t.Rows, c.clock, t.Now, s.Table, s.Bucket, &change))
		c.writeRanges(t, s)
	}
	return c.answerRanges(t, &s.rec, &s.Named)
}

// writeRanges stores the ranges of a bucket. It also marks the table's record as split, in a form that earlier versions
// of the code refuse.
func (c *catalog) writeRanges(t *turn.Turn, s *splitRequest) {
	k := record.RowOfRanges(s.Table, s.Bucket)
	v := message.AppendNamed(t.Dst, &s.Named)[len(t.Dst):]
	t.Rows.Put(k, v)
	c.room.Wrote(len(k) + len(v))
	if !s.rec.Split {
		s.rec.Split = true
		c.room.Wrote(s.rec.Put(t.Rows))
	}
}
