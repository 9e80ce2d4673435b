package engine

import (
	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/answers"
	"edgetable/adapters/store/durableobject/internal/clock"
	"edgetable/adapters/store/durableobject/internal/listing"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/outbox"
	"edgetable/adapters/store/durableobject/internal/record"
	"edgetable/adapters/store/durableobject/internal/room"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// catalog stores the records of an account.
type catalog struct {
	clock    *clock.Clock
	room     *room.Room
	outbox   *outbox.Outbox
	answers  *answers.Memory
	location string

	retryAt edm.Ticks // when the alarm next continues interrupted deletions of tables and changes of declared options
}

// current loads a record, after it has continued an unfinished deletion or change of options. If ok is false, the
// caller must return the third result.
func (c *catalog) current(t *turn.Turn, key string) (rec record.Record, ok bool, instead turn.Step) {
	rec, err := record.Load(t.Rows, key)
	if err != nil {
		return rec, false, t.Fail(err)
	}
	if rec.Deleting {
		if ok, instead = c.finishDeletion(t, &rec); !ok {
			return rec, false, instead
		}
		rec = record.Record{}
	}
	if rec.Telling {
		if ok, instead = c.announceOptions(t, &rec); !ok {
			return rec, false, instead
		}
	}
	return rec, true, turn.Step{}
}

func (c *catalog) read(t *turn.Turn) turn.Step {
	key := t.Fields.Text()
	if !t.Fields.Done() {
		return t.Malformed()
	}
	c.outbox.JoinCatalog(t, key, c.location)
	rec, ok, instead := c.current(t, key)
	switch {
	case !ok:
		return instead
	case !rec.Exists():
		return t.Fail(table.ErrNoRecord)
	}
	return turn.Step{Answer: message.AppendDocument(message.AppendLayout(message.Done(t.Dst), rec.Layout), &rec.Record)}
}

func (c *catalog) write(t *turn.Turn, a message.Attempt, v answers.Verdict) turn.Step {
	d := t.Fields.Document()
	layout := t.Fields.Layout()
	if !t.Fields.Done() {
		return t.Malformed()
	}
	key := d.Key.String()
	if v == answers.Lost {
		if rec, err := record.Load(t.Rows, key); err != nil || rec.Deleting || rec.By != a.ID {
			return turn.LostWrite(t)
		}
	}
	c.outbox.JoinCatalog(t, key, c.location)
	old, ok, instead := c.current(t, key)
	switch own := old.Exists() && !old.Deleting && old.By == a.ID; {
	case own && ok:
		step := t.DoneTicks(old.Revision.Written())
		step.Alarm = c.nextRetry(t)
		return step
	case own && t.Has(instead, message.StatusBusy): // the alarm will make the remaining objects read the options
		return turn.Step{Answer: message.Fail(t.Dst, table.ErrUnknown), Alarm: instead.Alarm}
	case !ok && d.Revision == "" && old.Deleting && t.Has(instead, message.StatusBusy):
		return t.Fail(table.ErrBeingDeleted)
	case !ok:
		return instead
	}
	rec, err := c.successor(t, &old, d, layout)
	if err != nil {
		return t.Fail(err)
	}
	at := c.clock.Next(t.Now, 0, 1)
	rec.Revision = table.RevisionOf(at)
	if old.Exists() && !message.SameTraits(old.Traits, rec.Traits) {
		c.beginTelling(t, &rec, a.ID)
		c.clock.Issue(t.Rows, at)
		c.outbox.ChangedRecord(t, key, at)
		_, step := c.announceOptions(t, &rec)
		return step
	}
	c.room.Wrote(rec.Put(t.Rows))
	c.clock.Issue(t.Rows, at)
	c.outbox.ChangedRecord(t, key, at)
	return t.DoneTicks(at)
}

// successor returns the record that replaces old after a write of d, or an error if the write must be refused. The
// parameter layout is used only if the table is new.
func (c *catalog) successor(t *turn.Turn, old *record.Record, d table.Record, layout message.Layout) (rec record.Record, err error) {
	rec = record.Record{Record: d, Layout: old.Layout, Floor: old.Floor, Split: old.Split}
	switch {
	case old.Revision != d.Revision:
		return rec, table.ErrRevision
	case c.restores(t, old):
		return rec, table.ErrBusy
	case c.room.Full(t.Rows):
		return rec, &table.Refused{Err: room.ErrCatalogFull}
	case old.Exists():
		rec.Incarnation = old.Incarnation
	case rec.IsTable():
		rec.Layout, rec.Floor = layout, storage.Ticks(t.Rows, storage.RowFloor)
		if layout.Buckets == 0 || layout.Buckets > durableobject.MaxBuckets {
			return rec, table.ErrUnsupported
		}
	}
	return rec, nil
}

func (c *catalog) list(t *turn.Turn) turn.Step {
	prefix, from := t.Fields.Text(), t.Fields.Text()
	limit := t.Fields.Size()
	if !t.Fields.Done() {
		return t.Malformed()
	}
	c.outbox.JoinCatalog(t, prefix, c.location)
	return listing.Records(t, prefix, from, limit)
}

func (c *catalog) locate(t *turn.Turn) turn.Step {
	key := t.Fields.Text()
	if !t.Fields.Done() {
		return t.Malformed()
	}
	c.outbox.JoinCatalog(t, key, c.location)
	rec, err := record.Load(t.Rows, key)
	return listing.Locate(t, &rec, err, c.restores)
}
