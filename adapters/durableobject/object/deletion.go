package object

import (
	"edgetable/adapters/durableobject"
	"edgetable/adapters/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

const (
	// rounds is how often a message asks other objects before it gives up, or
	// leaves a deletion to the alarm.
	rounds = 3
	// patience is how long the alarm leaves a deletion to who began it.
	patience = 30 * edm.TicksPerSecond
)

// remove deletes a document, and the table with it. The State of its steps is
// ours, if it was this write that marked the record, or theirs, and behind it
// that of bury.
func (h *handling) remove(a message.Attempt, v verdict) Step {
	key := h.r.Text()
	revision := table.Revision(h.r.Text())
	if !h.r.Done() {
		return h.garbled()
	}
	h.joinCatalog(key)
	rec, err := h.record(key)
	if err != nil {
		return h.fail(err)
	}
	mine := rec.deleting && rec.by == a.ID
	var waited []byte
	if s := h.resume.State; len(s) > 0 {
		if s[0] == ours && !mine {
			return h.done() // whoever brought the deletion to its end
		}
		waited = s[1:]
	}
	if v == lost && !mine {
		return h.fail(table.ErrUnknown)
	}
	switch {
	case rec.deleting:
	case rec.Key == "" || rec.Revision != revision:
		return h.fail(table.ErrRevision)
	case !rec.isTable():
		h.rows.Delete(rowOf(spaceDocuments, key))
		h.goneDocument(key)
		return h.done()
	default:
		rec.deleting, rec.by, rec.Value = true, a.ID, nil
		h.putRecord(&rec)
		h.rows.Put(rowOf(spaceDeleting, key), nil)
		h.goneDocument(key)
		mine = true
	}
	whose := theirs
	if mine {
		whose = ours
	}
	ok, step := h.bury(&rec, waited)
	switch {
	case len(step.Calls) > 0:
		step.State = append([]byte{whose}, step.State...)
		return step
	case !ok && mine:
		return Step{Answer: message.Fail(h.dst, table.ErrUnknown), Alarm: step.Alarm} // it is left to the alarm
	case !ok:
		return step
	case !mine:
		return h.fail(table.ErrRevision)
	}
	return h.forgetting(&rec)
}

// The first byte of remove's State.
const (
	theirs byte = iota
	ours
)

// What bury puts into the State of a step with calls: the incarnation, and how
// many rounds there were before.
const burialSize = len(table.Incarnation{}) + 1

// bury brings the deletion of a table to its end: its buckets drop, then the
// record is removed. Where the step waits for them it has Calls, and if they do
// not answer it is ErrBusy. Several messages may do this at a time: all steps can
// be done twice. waited is what bury put into the State of the step before.
func (h *handling) bury(rec *record, waited []byte) (ok bool, step Step) {
	round := byte(0)
	if len(waited) == burialSize && table.Incarnation(waited[:burialSize-1]) == rec.Layout.Incarnation {
		if high, ok := dropped(h.resume.Answers, int(rec.home.Buckets)); ok {
			h.entomb(rec, high)
			return true, Step{}
		}
		if round = waited[burialSize-1] + 1; round >= rounds {
			step = h.fail(table.ErrBusy)
			step.Alarm = h.now() + patience
			return false, step
		}
	}
	step.Calls = callBuckets(rec, message.Drop(nil, rec.Layout.Incarnation))
	step.State = append(append(step.State, rec.Layout.Incarnation[:]...), round)
	step.Alarm = h.now() + patience
	return false, step
}

// dropped is the high water of Timestamps of all buckets, if all have dropped.
func dropped(answers []durableobject.Answer, count int) (high edm.Ticks, ok bool) {
	if len(answers) != count {
		return 0, false
	}
	for _, a := range answers {
		if a.Err != nil {
			return 0, false
		}
		r, err := message.Result(a.Message)
		t := r.Ticks()
		if err != nil || !r.Done() {
			return 0, false
		}
		high = max(high, t)
	}
	return high, true
}

// entomb removes the record of a table whose buckets have dropped.
func (h *handling) entomb(rec *record, high edm.Ticks) {
	if high > readTicks(h.rows, rowFloor) {
		putTicks(h.rows, rowFloor, high)
	}
	h.rows.Delete(rowOf(spaceDocuments, rec.Key))
	h.rows.Delete(rowOf(spaceDeleting, rec.Key))
	h.buried(rec)
	h.memory.remember(h.now(), rec.by, message.Done(nil))
}

// forgetting has the buckets of a table that is gone forget what they kept of
// it, for the table's last message. Whatever comes of it, the answer is known.
func (h *handling) forgetting(rec *record) Step {
	return Step{Calls: callBuckets(rec, message.Forget(nil, readTicks(h.rows, rowFloor))), State: []byte{ours}}
}

// callBuckets sends one message to all buckets of a table.
func callBuckets(rec *record, m []byte) []durableobject.Call {
	calls := make([]durableobject.Call, rec.home.Buckets)
	for b := range calls {
		calls[b] = durableobject.Call{
			Object:  durableobject.Bucket(rec.Key, rec.home.Buckets, uint16(b), rec.home.Location),
			Message: m,
		}
	}
	return calls
}

// The first byte of alarm's State.
const (
	alarmBuries byte = iota
	alarmPublishes
)

// alarm brings deletions to their end that were cut off, one after the other,
// then it publishes. The State of its steps is behind the first byte that of bury
// and the table's key, or that of publish.
func (h *handling) alarm() Step {
	if !h.r.Done() {
		return h.garbled()
	}
	from, waited := "", h.resume.State
	if len(waited) > 0 && waited[0] == alarmPublishes {
		return h.published()
	}
	if len(waited) > 0 {
		waited = waited[1:]
	}
	if len(waited) >= burialSize {
		from, waited = string(waited[burialSize:]), waited[:burialSize]
	}
	for key := h.nextDeleting(from); key != ""; key = h.nextDeleting(key + "\x00") {
		rec, err := h.record(key)
		if err != nil {
			continue
		}
		if !rec.deleting { // as the row says, but it would be tried for ever
			h.rows.Delete(rowOf(spaceDeleting, key))
			continue
		}
		if _, step := h.bury(&rec, waited); len(step.Calls) > 0 {
			step.State = append(append([]byte{alarmBuries}, step.State...), key...)
			return step
		}
	}
	step := h.publish()
	if h.nextDeleting("") != "" {
		step.Alarm = h.now() + patience // which publish does not set
	}
	return step
}

// nextDeleting is the first table at or behind key that is being deleted.
func (h *handling) nextDeleting(key string) string {
	for k := range h.rows.Scan(rowOf(spaceDeleting, key), []byte{spaceDeleting + 1}, leastRun) {
		return string(k[1:])
	}
	return ""
}
