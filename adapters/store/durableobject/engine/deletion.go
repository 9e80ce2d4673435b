package engine

import (
	"math"
	"slices"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/answers"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/record"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// retryDelay is how long the alarm leaves a deletion to the message that began it, and
// then waits between attempts to finish deletions.
const retryDelay = 30 * edm.TicksPerSecond

// remove deletes a record, and with it its table: it marks the record, has all buckets
// drop, removes the record, and has the buckets forget.
func (c *catalog) remove(t *turn, a message.Attempt, v answers.Verdict) Step {
	key := t.fields.Text()
	revision := table.Revision(t.fields.Text())
	if !t.fields.Done() {
		return t.malformed()
	}
	c.outbox.joinCatalog(t, key, c.location)
	rec, err := readRecord(t.rows, key)
	if err != nil {
		return t.fail(err)
	}
	own := rec.Deleting && rec.By == a.ID
	if t.resumed.own && !own {
		return t.done() // the record is gone, whoever finished the deletion
	}
	if v == answers.Lost && !own {
		return lostWrite(t)
	}
	switch {
	case rec.Deleting:
	case c.restores(t, &rec):
		return t.fail(table.ErrBusy)
	case !rec.Exists() || rec.Revision != revision:
		return t.fail(table.ErrRevision)
	case !rec.IsTable():
		t.rows.Delete(rowOf(spaceRecords, key))
		c.outbox.removedRecord(t, key)
		return t.done()
	default:
		rec.Deleting, rec.By, rec.Value = true, a.ID, nil
		c.room.Wrote(putRecord(t.rows, &rec))
		t.rows.Put(rowOf(spaceDeleting, key), nil)
		c.outbox.removedRecord(t, key)
		own = true
	}
	last := c.portion(t, &rec)
	ok, step := c.finishDeletion(t, &rec)
	switch {
	case len(step.Calls) > 0:
		step.next.own = own
		return step
	case !ok && t.has(step, message.StatusMore):
		return step
	case !ok && own: // the alarm finishes it
		return Step{Answer: message.Fail(t.dst, table.ErrUnknown), Alarm: step.Alarm}
	case !ok:
		return step
	case !own:
		return t.fail(table.ErrRevision)
	}
	// The answer is known already, whatever becomes of these calls.
	return Step{
		Calls: callObjects(&rec, last.objects, message.Forget(nil, storage.Ticks(t.rows, rowFloor))),
		next:  &continuation{kind: forgets, own: true},
	}
}

// mostDropped is the number of objects that are told to drop in one message, and of those that
// are told to forget. The platform permits 50 calls on its free plan.
const mostDropped = 20

// portion is the next part of a deletion: the objects that drop, those before that may forget, and
// how many of all objects have dropped then.
type portion struct {
	objects, before []message.Object
	upto, all       int
}

func (c *catalog) portion(t *turn, rec *record.Record) (p portion) {
	list, _ := objectsOf(t.rows, rec)
	p.all = len(list)
	done := min(int(storage.Ticks(t.rows, rowOf(spaceDeleting, rec.Key.String()))), p.all)
	p.upto = min(done+mostDropped, p.all)
	p.objects, p.before = list[done:p.upto], list[max(done-mostDropped, 0):done]
	return p
}

// finishDeletion goes on with the deletion of a table: its objects drop, then the record
// goes. While it waits for objects the step has Calls; if they do not answer, the step
// is ErrBusy, and if others are left, ErrMore. Several messages may do so at a time: each
// step may be repeated.
func (c *catalog) finishDeletion(t *turn, rec *record.Record) (ok bool, step Step) {
	p := c.portion(t, rec)
	next := &continuation{kind: deletes, key: rec.Key.String(), incarnation: rec.Incarnation, objects: p.objects, batch: uint64(p.upto)}
	forget := p.before
	if before := &t.resumed; before.kind == deletes && before.incarnation == rec.Incarnation && len(before.objects) <= len(t.answers) {
		next.round, next.high, next.batch = before.round+1, before.high, before.batch
		next.objects, forget = nil, nil
		for i, o := range before.objects {
			r, err := message.Result(t.answers[i].Message)
			if high := r.Ticks(); t.answers[i].Err == nil && err == nil && r.Done() {
				next.high = max(next.high, high)
			} else {
				next.objects = append(next.objects, o)
			}
		}
		if len(next.objects) == 0 {
			return c.dropped(t, rec, next.high, int(before.batch))
		}
		if next.round >= rounds {
			step = t.fail(table.ErrBusy)
			step.Alarm = t.now + retryDelay
			return false, step
		}
	}
	calls := callObjects(rec, next.objects, message.Drop(nil, rec.Incarnation))
	return false, Step{
		Calls: append(calls, callObjects(rec, forget, message.Forget(nil, storage.Ticks(t.rows, rowFloor)))...),
		next:  next,
		Alarm: t.now + retryDelay,
	}
}

// dropped records that some objects have dropped, and removes the record if these were the last.
func (c *catalog) dropped(t *turn, rec *record.Record, high edm.Ticks, upto int) (ok bool, step Step) {
	if high > storage.Ticks(t.rows, rowFloor) {
		storage.PutTicks(t.rows, rowFloor, high)
	}
	if p := c.portion(t, rec); upto < p.all {
		if upto > p.upto-len(p.objects) {
			storage.PutTicks(t.rows, rowOf(spaceDeleting, rec.Key.String()), edm.Ticks(upto))
		}
		step = t.fail(message.ErrMore)
		step.Alarm = t.now
		return false, step
	}
	c.removeRecord(t, rec)
	return true, Step{}
}

// removeRecord removes the record of a table whose buckets have dropped.
func (c *catalog) removeRecord(t *turn, rec *record.Record) {
	key := rec.Key.String()
	t.rows.Delete(rowOf(spaceRecords, key))
	t.rows.Delete(rowOf(spaceDeleting, key))
	for n := uint16(0); rec.Split && n < rec.Layout.Buckets; n++ {
		t.rows.Delete(rowOfRanges(key, n))
	}
	for n := range rec.Layout.Buckets {
		from := rowOfHistory(key, n)
		storage.Delete(t.rows, from, append(slices.Clone(from), 0xff), math.MaxInt)
	}
	t.rows.Delete(rowOf(spaceRestores, key))
	t.rows.Delete(rowOf(spaceRestores, key+finished))
	c.outbox.schedulePurge(t, rec.Incarnation)
	c.answers.Remember(t.now, rec.By, message.Done(nil))
}

// callObjects sends one message to some objects of a table.
func callObjects(rec *record.Record, objects []message.Object, m []byte) []durableobject.Call {
	calls := make([]durableobject.Call, len(objects))
	for i, o := range objects {
		calls[i] = durableobject.Call{
			To:      durableobject.Range(rec.Key.String(), rec.Layout.Buckets, o.Bucket, o.Range, rec.Layout.Location),
			Message: m,
		}
	}
	return calls
}

// finishDeletions finishes interrupted deletions, one after the other. If buckets do
// not answer, it leaves them alone for a while, because each batch to publish would
// wait for them.
func (c *catalog) finishDeletions(t *turn) (step Step, waits bool) {
	from := ""
	if t.resumed.kind == deletes {
		from = t.resumed.key
	} else if t.now < c.retryAt && c.retryAt <= t.now+retryDelay {
		return Step{}, false
	}
	for key := nextDeleting(t.rows, from); key != ""; key = nextDeleting(t.rows, key+"\x00") {
		rec, err := readRecord(t.rows, key)
		if err != nil {
			continue
		}
		if !rec.Deleting { // impossible, but it would be tried again and again
			t.rows.Delete(rowOf(spaceDeleting, key))
			continue
		}
		_, step := c.finishDeletion(t, &rec)
		switch {
		case len(step.Calls) > 0:
			return step, true
		case step.Answer != nil && t.has(step, message.StatusMore):
			return Step{Answer: message.Done(t.dst), Alarm: t.now}, true
		}
	}
	c.retryAt = t.now + retryDelay
	return Step{}, false
}

// nextRetry is when the alarm tries interrupted deletions again, 0 if there are none.
func (c *catalog) nextRetry(t *turn) edm.Ticks {
	if nextDeleting(t.rows, "") == "" {
		return 0
	}
	return c.retryAt
}

// nextDeleting is the first table at or after key that is being deleted.
func nextDeleting(rows Rows, key string) string {
	for k := range rows.Scan(rowOf(spaceDeleting, key), []byte{spaceDeleting + 1}, leastRun) {
		return string(k[1:])
	}
	return ""
}
