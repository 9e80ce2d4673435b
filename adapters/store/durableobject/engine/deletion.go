package engine

import (
	"math"
	"slices"

	"edgetable/adapters/store/durableobject/internal/answers"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/record"
	"edgetable/adapters/store/durableobject/internal/restoring"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/telling"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// remove deletes a record. It marks the record of a table as deleted, and removes it when all buckets have dropped the
// table.
func (c *catalog) remove(t *turn.Turn, a message.Attempt, v answers.Verdict) turn.Step {
	key := t.Fields.Text()
	revision := table.Revision(t.Fields.Text())
	if !t.Fields.Done() {
		return t.Malformed()
	}
	c.outbox.JoinCatalog(t, key, c.location)
	rec, err := record.Load(t.Rows, key)
	if err != nil {
		return t.Fail(err)
	}
	own := rec.Deleting && rec.By == a.ID
	if t.Resumed.Own && !own {
		return t.Done() // the record is gone; it does not matter which message finished the deletion
	}
	if v == answers.Lost && !own {
		return turn.LostWrite(t)
	}
	switch {
	case rec.Deleting:
	case c.restores(t, &rec):
		return t.Fail(table.ErrBusy)
	case !rec.Exists() || rec.Revision != revision:
		return t.Fail(table.ErrRevision)
	case !rec.IsTable():
		t.Rows.Delete(storage.RowOf(storage.SpaceRecords, key))
		c.outbox.RemovedRecord(t, key)
		return t.Done()
	default:
		rec.Deleting, rec.By, rec.Value = true, a.ID, nil
		c.room.Wrote(rec.Put(t.Rows))
		t.Rows.Put(storage.RowOf(storage.SpaceDeleting, key), nil)
		c.outbox.RemovedRecord(t, key)
		own = true
	}
	last := c.portion(t, &rec)
	ok, step := c.finishDeletion(t, &rec)
	switch {
	case len(step.Calls) > 0:
		step.Next.Own = own
		return step
	case !ok && t.Has(step, message.StatusMore):
		return step
	case !ok && own: // the alarm finishes the deletion
		return turn.Step{Answer: message.Fail(t.Dst, table.ErrUnknown), Alarm: step.Alarm}
	case !ok:
		return step
	case !own:
		return t.Fail(table.ErrRevision)
	}
	// The table is already deleted, so the answer does not depend on these calls.
	return turn.Step{
		Calls: telling.Calls(&rec, last.objects, message.Forget(nil, storage.Ticks(t.Rows, storage.RowFloor))),
		Next:  &turn.Continuation{Kind: turn.Forgets, Own: true},
	}
}

// mostDropped is the maximum number of objects that one message tells to drop the table. The same message may tell as
// many other objects to forget the table. The platform's free plan permits 50 calls.
const mostDropped = 20

// portion is a group of a table's objects. The deletion of a table handles one portion after another.
type portion struct {
	objects []message.Object // objects that must drop the table in this step
	before  []message.Object // the objects of the previous portion, which must forget the table in this step
	upto    int              // number of objects that have dropped the table after this step
	all     int              // number of objects of the table
}

func (c *catalog) portion(t *turn.Turn, rec *record.Record) (p portion) {
	list, _ := record.Objects(t.Rows, rec)
	p.all = len(list)
	done := min(int(storage.Ticks(t.Rows, storage.RowOf(storage.SpaceDeleting, rec.Key.String()))), p.all)
	p.upto = min(done+mostDropped, p.all)
	p.objects, p.before = list[done:p.upto], list[max(done-mostDropped, 0):done]
	return p
}

// finishDeletion makes a portion of the objects drop the table. After the last portion, it removes the record. Several
// messages may run one deletion.
//
// It fails with ErrBusy if objects do not answer, and with ErrMore if objects remain.
func (c *catalog) finishDeletion(t *turn.Turn, rec *record.Record) (ok bool, step turn.Step) {
	p := c.portion(t, rec)
	next := &turn.Continuation{Kind: turn.Deletes, Key: rec.Key.String(), Incarnation: rec.Incarnation, Objects: p.objects, Batch: uint64(p.upto)}
	forget := p.before
	if before := &t.Resumed; before.Kind == turn.Deletes && before.Incarnation == rec.Incarnation && len(before.Objects) <= len(t.Answers) {
		next.Round, next.High, next.Batch = before.Round+1, before.High, before.Batch
		next.Objects, forget = nil, nil
		for i, o := range before.Objects {
			r, err := message.Result(t.Answers[i].Message)
			if high := r.Ticks(); t.Answers[i].Err == nil && err == nil && r.Done() {
				next.High = max(next.High, high)
			} else {
				next.Objects = append(next.Objects, o)
			}
		}
		if len(next.Objects) == 0 {
			return c.recordDropped(t, rec, next.High, int(before.Batch))
		}
		if next.Round >= turn.Rounds {
			step = t.Fail(table.ErrBusy)
			step.Alarm = t.Now + turn.RetryDelay
			return false, step
		}
	}
	calls := telling.Calls(rec, next.Objects, message.Drop(nil, rec.Incarnation, rec.Declares()))
	return false, turn.Step{
		Calls: append(calls, telling.Calls(rec, forget, message.Forget(nil, storage.Ticks(t.Rows, storage.RowFloor)))...),
		Next:  next,
		Alarm: t.Now + turn.RetryDelay,
	}
}

// recordDropped records that some objects have dropped the table. If no others remain, it removes the table's record.
func (c *catalog) recordDropped(t *turn.Turn, rec *record.Record, high edm.Ticks, upto int) (ok bool, step turn.Step) {
	if high > storage.Ticks(t.Rows, storage.RowFloor) {
		storage.PutTicks(t.Rows, storage.RowFloor, high)
	}
	if p := c.portion(t, rec); upto < p.all {
		if upto > p.upto-len(p.objects) {
			storage.PutTicks(t.Rows, storage.RowOf(storage.SpaceDeleting, rec.Key.String()), edm.Ticks(upto))
		}
		step = t.Fail(message.ErrMore)
		step.Alarm = t.Now
		return false, step
	}
	c.removeRecord(t, rec)
	return true, turn.Step{}
}

// removeRecord removes the record of a table that all buckets have dropped.
func (c *catalog) removeRecord(t *turn.Turn, rec *record.Record) {
	key := rec.Key.String()
	t.Rows.Delete(storage.RowOf(storage.SpaceRecords, key))
	t.Rows.Delete(storage.RowOf(storage.SpaceDeleting, key))
	for n := uint16(0); rec.Split && n < rec.Layout.Buckets; n++ {
		t.Rows.Delete(record.RowOfRanges(key, n))
	}
	for n := range rec.Layout.Buckets {
		from := restoring.RowOfHistory(key, n)
		storage.Delete(t.Rows, from, append(slices.Clone(from), 0xff), math.MaxInt)
	}
	t.Rows.Delete(storage.RowOf(storage.SpaceRestores, key))
	t.Rows.Delete(storage.RowOf(storage.SpaceRestores, key+finished))
	c.outbox.SchedulePurge(t, rec.Incarnation)
	c.answers.Remember(t.Now, rec.By, message.Done(nil))
}

// finishDeletions continues interrupted deletions and changes of options. It retries only after RetryDelay, because an
// attempt delays the publishing of changes.
func (c *catalog) finishDeletions(t *turn.Turn) (step turn.Step, waits bool) {
	from := ""
	if t.Resumed.Kind == turn.Deletes || t.Resumed.Kind == turn.Declares {
		from = t.Resumed.Key
	} else if t.Now < c.retryAt && c.retryAt <= t.Now+turn.RetryDelay {
		return turn.Step{}, false
	}
	for key := telling.Next(t.Rows, from); key != ""; key = telling.Next(t.Rows, key+"\x00") {
		rec, err := record.Load(t.Rows, key)
		if err != nil {
			continue
		}
		finish := c.finishDeletion
		switch {
		case rec.Deleting:
		case rec.Telling || rec.Traits != nil && rec.Traits.Ending != nil:
			finish = c.announceOptions
		default: // the record needs no work; without this deletion, each alarm would find the row again
			t.Rows.Delete(storage.RowOf(storage.SpaceDeleting, key))
			continue
		}
		_, step := finish(t, &rec)
		switch {
		case len(step.Calls) > 0:
			return step, true
		case step.Answer != nil && t.Has(step, message.StatusMore):
			return turn.Step{Answer: message.Done(t.Dst), Alarm: t.Now}, true
		}
	}
	c.retryAt = t.Now + turn.RetryDelay
	return turn.Step{}, false
}

// nextRetry returns when the alarm next continues interrupted deletions and changes of declared options, or 0 if there are none.
func (c *catalog) nextRetry(t *turn.Turn) edm.Ticks {
	if telling.Next(t.Rows, "") == "" {
		return 0
	}
	return c.retryAt
}
