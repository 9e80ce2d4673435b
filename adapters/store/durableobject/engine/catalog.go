package engine

import (
	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// catalog keeps the records of an account.
type catalog struct {
	clock    *clock
	room     *room
	outbox   *outbox
	answers  *answers
	location string

	retryAt edm.Ticks // when the alarm tries interrupted deletions again
}

// maxList is the size in bytes of one answer with records.
const maxList = 4 << 20

// current reads a record and finishes its deletion first, if one is in progress. If
// that takes calls, or fails, instead is the step to take.
func (c *catalog) current(t *turn, key string) (rec record, ok bool, instead Step) {
	rec, err := readRecord(t.rows, key)
	if err != nil {
		return rec, false, t.fail(err)
	}
	if rec.deleting {
		if ok, instead = c.finishDeletion(t, &rec); !ok {
			return rec, false, instead
		}
		rec = record{}
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
	case !rec.exists():
		return t.fail(table.ErrNoRecord)
	}
	return Step{Answer: message.AppendDocument(message.AppendHome(message.Done(t.dst), rec.home), &rec.Record)}
}

func (c *catalog) write(t *turn, _ message.Attempt, v verdict) Step {
	d := t.fields.Document()
	home := t.fields.Home()
	if !t.fields.Done() {
		return t.malformed()
	}
	if v == lost {
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
	rec := record{Record: d, home: old.home, floor: old.floor, split: old.split}
	switch {
	case old.Revision != d.Revision:
		return t.fail(table.ErrRevision)
	case c.room.full(t.rows):
		return t.fail(&table.Refused{Err: errCatalogFull})
	case old.exists():
		rec.Incarnation = old.Incarnation
	case rec.isTable():
		rec.home, rec.floor = home, readTicks(t.rows, rowFloor)
		if home.Buckets == 0 || home.Buckets > durableobject.MaxBuckets {
			return t.fail(table.ErrUnsupported)
		}
	}
	at := c.clock.next(t.now, 0, 1)
	rec.Revision = table.RevisionOf(at)
	c.room.wrote(rec.put(t.rows))
	c.clock.issue(t.rows, at)
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
		rec, ok := parseRecord(v)
		switch {
		case !ok || string(k[1:]) != rec.Key.String():
			return t.fail(errRecord)
		case rec.deleting:
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
	case !rec.isTable():
		return t.fail(table.ErrNoTable)
	case rec.split:
		return t.fail(table.ErrBusy) // earlier code asks, which does not know ranges
	}
	return Step{Answer: message.AppendLocated(t.dst, &message.Located{
		Incarnation: rec.Incarnation, Home: rec.home, Floor: rec.floor, Deleting: rec.deleting,
	})}
}
