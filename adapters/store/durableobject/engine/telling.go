package engine

import (
	"edgetable/adapters/store/durableobject/internal/record"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/telling"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/table"
)

// beginTelling records that the declared options of a table have changed, and that its objects must read them.
func (c *catalog) beginTelling(t *turn.Turn, rec *record.Record, by uint64) {
	rec.Telling, rec.By = true, by
	c.room.Wrote(rec.Put(t.Rows))
	t.Rows.Put(storage.RowOf(storage.SpaceDeleting, rec.Key.String()), nil)
}

// announceOptions takes the next step of making a table's objects read its declared options. Afterwards, allTold
// removes a withdrawn rule that no object needs.
func (c *catalog) announceOptions(t *turn.Turn, rec *record.Record) (ok bool, step turn.Step) {
	ok, dirty, step := telling.Step(t, rec)
	if ok {
		c.allTold(t, rec, dirty)
	}
	return ok, step
}

// allTold records that all objects have read the declared options. It schedules another round if entities remain that
// expired under a withdrawn rule.
func (c *catalog) allTold(t *turn.Turn, rec *record.Record, dirty bool) {
	row := storage.RowOf(storage.SpaceDeleting, rec.Key.String())
	ends := rec.Traits != nil && rec.Traits.Ending != nil
	switch told := rec.Telling; {
	case told:
		rec.Telling = false
		rec.Put(t.Rows)
		fallthrough
	case ends && dirty:
		if t.Rows.Delete(row); ends {
			t.Rows.Put(row, nil)
			c.retryAt = t.Now + turn.RetryDelay
		}
	case ends:
		traits := &table.Traits{Expiry: rec.Traits.Expiry, Feed: rec.Traits.Feed}
		if rec.Traits = traits; *traits == (table.Traits{}) {
			rec.Traits = nil
		}
		at := c.clock.Next(t.Now, 0, 1)
		c.clock.Issue(t.Rows, at)
		rec.Revision = table.RevisionOf(at)
		c.outbox.ChangedRecord(t, rec.Key.String(), at)
		c.beginTelling(t, rec, 0)
	}
}
