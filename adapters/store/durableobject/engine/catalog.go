package engine

import (
	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/answers"
	"edgetable/adapters/store/durableobject/internal/clock"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/record"
	"edgetable/adapters/store/durableobject/internal/room"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// catalog keeps the records of an account.
type catalog struct {
	clock    *clock.Clock
	room     *room.Room
	outbox   *outbox
	answers  *answers.Memory
	location string

	retryAt edm.Ticks // when the alarm tries interrupted deletions again
}

// maxList is the size in bytes of one answer with records.
const maxList = 4 << 20

// current reads a record and finishes its deletion first, if one is in progress. If
// that takes calls, or fails, instead is the step to take.
func (c *catalog) current(t *turn, key string) (rec record.Record, ok bool, instead Step) {
	rec, err := readRecord(t.rows, key)
	if err != nil {
		return rec, false, t.fail(err)
	}
	if rec.Deleting {
		if ok, instead = c.finishDeletion(t, &rec); !ok {
			return rec, false, instead
		}
		rec = record.Record{}
	}
	return rec, true, Step{}
}

func (c *catalog) read(t *turn) Step {
	key := t.fields.Text()
	if !t.fields.Done() {
		return t.malformed()
	}
	c.outbox.joinCatalog(t, key, c.location)
	rec, ok, instead := c.current(t, key)
	switch {
	case !ok:
		return instead
	case !rec.Exists():
		return t.fail(table.ErrNoRecord)
	}
	return Step{Answer: message.AppendDocument(message.AppendLayout(message.Done(t.dst), rec.Layout), &rec.Record)}
}

func (c *catalog) write(t *turn, _ message.Attempt, v answers.Verdict) Step {
	d := t.fields.Document()
	layout := t.fields.Layout()
	if !t.fields.Done() {
		return t.malformed()
	}
	if v == answers.Lost {
		return lostWrite(t)
	}
	key := d.Key.String()
	c.outbox.joinCatalog(t, key, c.location)
	old, ok, instead := c.current(t, key)
	if !ok {
		if d.Revision == "" && t.has(instead, message.StatusBusy) {
			return t.fail(table.ErrBeingDeleted)
		}
		return instead
	}
	rec := record.Record{Record: d, Layout: old.Layout, Floor: old.Floor, Split: old.Split}
	switch {
	case old.Revision != d.Revision:
		return t.fail(table.ErrRevision)
	case c.restores(t, &old):
		return t.fail(table.ErrBusy)
	case c.room.Full(t.rows):
		return t.fail(&table.Refused{Err: room.ErrCatalogFull})
	case old.Exists():
		rec.Incarnation = old.Incarnation
	case rec.IsTable():
		rec.Layout, rec.Floor = layout, storage.Ticks(t.rows, rowFloor)
		if layout.Buckets == 0 || layout.Buckets > durableobject.MaxBuckets {
			return t.fail(table.ErrUnsupported)
		}
	}
	at := c.clock.Next(t.now, 0, 1)
	rec.Revision = table.RevisionOf(at)
	c.room.Wrote(putRecord(t.rows, &rec))
	c.clock.Issue(t.rows, at)
	c.outbox.changedRecord(t, key, at)
	return t.doneTicks(at)
}

// list answers records until one more would not fit, and says whether more may
// follow. It leaves out tables that are being deleted.
func (c *catalog) list(t *turn) Step {
	prefix, from := t.fields.Text(), t.fields.Text()
	limit := t.fields.Size()
	if !t.fields.Done() {
		return t.malformed()
	}
	c.outbox.joinCatalog(t, prefix, c.location)
	list := message.BeginList(t.dst)
	start := rowOf(spaceRecords, max(prefix, from))
	end := rowOf(spaceRecords, prefix+"\xff") // keys are ASCII
	for k, v := range t.rows.Scan(start, end, mostRun) {
		rec, ok := record.Parse(v)
		switch {
		case !ok || string(k[1:]) != rec.Key.String():
			return t.fail(errRecord)
		case rec.Deleting:
			continue
		case list.Len() == limit || list.Len() > 0 && list.Size()+len(v) > maxList:
			return Step{Answer: list.End(true)}
		}
		list.Add(&rec.Record)
	}
	return Step{Answer: list.End(false)}
}

func (c *catalog) locate(t *turn) Step {
	key := t.fields.Text()
	if !t.fields.Done() {
		return t.malformed()
	}
	c.outbox.joinCatalog(t, key, c.location)
	rec, err := readRecord(t.rows, key)
	switch {
	case err != nil:
		return t.fail(err)
	case !rec.IsTable():
		return t.fail(table.ErrNoTable)
	case rec.Split || c.restores(t, &rec):
		return t.fail(table.ErrBusy) // earlier code asks, which does not know ranges
	}
	return Step{Answer: message.AppendLocated(t.dst, &message.Located{
		Incarnation: rec.Incarnation, Layout: rec.Layout, Floor: rec.Floor, Deleting: rec.Deleting,
	})}
}
