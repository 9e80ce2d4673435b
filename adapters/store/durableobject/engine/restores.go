package engine

import (
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/record"
	"edgetable/adapters/store/durableobject/internal/restoring"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/table"
)

// The catalog runs the restore of a table in the phases of docs/adr/0039. A Worker delivers the catalog's orders to the
// objects, and reports the results to the catalog.

// finished is the suffix of the key under which a table's last finished restore is stored, so that the restore can be
// undone.
const finished = "\x00"

// restores reports whether a table is being restored. It first cancels a restore whose command was abandoned.
func (c *catalog) restores(t *turn.Turn, rec *record.Record) bool {
	if rec.Restoring {
		r, err := restoring.Load(t.Rows, rec.Key.String())
		if err == nil && r.Abandoned(t.Now) {
			r.Phase = restoring.Cancelled
			c.recordRestoreEnd(t, rec, r)
		}
	}
	return rec.Restoring
}

func (c *catalog) restore(t *turn.Turn) turn.Step {
	name := t.Fields.Text()
	told, ok := restoring.Read(t.Fields)
	if !ok || told.ID == 0 {
		return t.Malformed()
	}
	c.outbox.JoinCatalog(t, name, c.location)
	rec, err := record.Load(t.Rows, name)
	if err == nil && (!rec.IsTable() || rec.Deleting) {
		err = table.ErrNoTable
	}
	var r *restoring.Restore
	if err == nil {
		c.restores(t, &rec)
		r, err = restoring.Load(t.Rows, name)
	}
	switch {
	case err != nil:
	case told.Phase != 0:
		if rec.Restoring && r.ID == told.ID && r.Phase == told.Phase {
			r.Objects, r.High, r.Reason = told.Objects, told.High, told.Reason
			err = c.advance(t, &rec, r)
		}
	case told.StartedAt < t.Now-restoring.Inexact, !rec.Restoring && told.StartedAt < r.Deadline:
		err = table.ErrBusy // the message is late: another message of the same command may have finished the restore
	case !rec.Restoring && r.ID != told.ID:
		r, err = c.beginRestore(t, &rec, told)
	case !rec.Restoring || told.Undo == r.Undo && (told.To == r.To || r.Undo):
	case told.Undo && r.Phase <= restoring.Returning:
		r.Reason = "The restore was undone."
		err = c.advance(t, &rec, r)
	case !told.Undo || r.Phase < restoring.Undoing:
		err = restoring.Refused("The table is being restored to " + r.To.String() + " already: finish that restore first, with the same command.")
	}
	if err != nil {
		return t.Fail(err)
	}
	return turn.Step{Answer: r.Append(message.Done(t.Dst))}
}

// beginRestore determines which objects had which keys at the requested time. It marks the table's record as being
// restored.
func (c *catalog) beginRestore(t *turn.Turn, rec *record.Record, r *restoring.Restore) (*restoring.Restore, error) {
	name := rec.Key.String()
	last, err := restoring.Load(t.Rows, name+finished)
	if err != nil {
		return nil, err
	}
	if r.Undo {
		if last.ID == 0 {
			return nil, restoring.Refused("There is no restore of this table to undo. Nothing was changed.")
		}
		r.To = last.StartedAt
	}
	then, maps, err := restoring.MapsAt(t.Rows, rec, t.Now, r.To, r.Undo)
	if err != nil {
		return nil, err
	}
	now, _ := record.Objects(t.Rows, rec)
	r.OldIncarnation, r.IncarnationAtTo, r.StartedAt = rec.Incarnation, then, t.Now
	r.Plan(maps, now, last)
	rec.Restoring = true
	rec.Put(t.Rows)
	restoring.Put(t.Rows, name, r)
	return r, nil
}

// advance moves a restore to its next phase. When the restore is finished or cancelled, advance also changes the
// table's record.
func (c *catalog) advance(t *turn.Turn, rec *record.Record, r *restoring.Restore) error {
	r.Advance(t.Now, c.outbox.Publishes(rec.Layout.Location))
	if r.Phase == restoring.Finished {
		if err := c.finishRestore(t, rec, r); err != nil {
			return err
		}
	}
	if r.Phase == restoring.Finished || r.Phase == restoring.Cancelled {
		r.Deadline = t.Now
		c.recordRestoreEnd(t, rec, r)
	}
	restoring.Put(t.Rows, rec.Key.String(), r)
	return nil
}

// recordRestoreEnd records that a table is no longer being restored. A frozen object serves again as soon as it has
// asked the catalog.
func (c *catalog) recordRestoreEnd(t *turn.Turn, rec *record.Record, r *restoring.Restore) {
	rec.Restoring = false
	rec.Put(t.Rows)
	restoring.Put(t.Rows, rec.Key.String(), r)
}

// finishRestore gives the table its new incarnation, and the ranges that it had at the requested time.
func (c *catalog) finishRestore(t *turn.Turn, rec *record.Record, r *restoring.Restore) error {
	name := rec.Key.String()
	for n := range rec.Layout.Buckets {
		was, err := record.Named(t.Rows, rec, n)
		if err != nil {
			return err
		}
		c.room.Wrote(restoring.Remember(t.Rows, c.clock, t.Now, name, n, &restoring.Change{Sealed: r.StartedAt, Restored: true, OldIncarnation: r.OldIncarnation, Map: was.Ranges}))
		if rec.Split {
			t.Rows.Put(record.RowOfRanges(name, n), message.AppendNamed(nil, &message.Named{Ranges: r.Map(n)}))
		}
	}
	at := c.clock.Next(t.Now, 0, 1)
	c.clock.Issue(t.Rows, at)
	rec.Incarnation, rec.Floor = r.NewIncarnation, max(rec.Floor, r.High)
	c.outbox.ChangedRecord(t, name, at)
	c.outbox.SchedulePurge(t, r.OldIncarnation)
	if r.Undo {
		t.Rows.Delete(storage.RowOf(storage.SpaceRestores, name+finished))
	} else {
		restoring.Put(t.Rows, name+finished, r)
	}
	return nil
}

// instruct answers an object that asks for its part in a restore.
func (c *catalog) instruct(t *turn.Turn) turn.Step {
	name := t.Fields.Text()
	o := message.Object{Bucket: t.Fields.Bucket(), Range: t.Fields.ID()}
	if !t.Fields.Done() {
		return t.Malformed()
	}
	r := &restoring.Restore{}
	rec, err := record.Load(t.Rows, name)
	if err == nil && c.restores(t, &rec) {
		r, err = restoring.Load(t.Rows, name)
	}
	if err != nil {
		return t.Fail(err)
	}
	part := r.Part(o)
	part.Traits = rec.Traits
	return turn.Step{Answer: part.Append(message.Done(t.Dst))}
}
