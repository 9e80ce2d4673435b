package object

import (
	"encoding/binary"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

const (
	// rounds is how often a message asks other objects before it gives up, or
	// leaves a deletion to the alarm.
	rounds = 3
	// patience is how long the alarm leaves a deletion to who began it, and those
	// that it was unable to bring to their end to themselves.
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
	case !rec.exists() || rec.Revision != revision:
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

// burial is how far bury got. It is in the State of a step with calls.
type burial struct {
	life  table.Incarnation
	round byte      // how many there were before
	high  edm.Ticks // high water of the Timestamps of buckets that have dropped
	left  []uint16  // those that have not
}

func (b *burial) append(dst []byte) []byte {
	dst = append(append(dst, b.life[:]...), b.round)
	dst = binary.BigEndian.AppendUint64(dst, uint64(b.high))
	for _, n := range b.left {
		dst = binary.BigEndian.AppendUint16(dst, n)
	}
	return dst
}

// goOn takes the answers to the step before, if that was of this life.
func (b *burial) goOn(state []byte, answers []durableobject.Answer) bool {
	r := message.Read(state)
	life, round, high, asked := r.Incarnation(), r.Byte(), r.Ticks(), r.Rest()
	if !r.OK() || life != b.life || len(asked) != 2*len(answers) {
		return false
	}
	b.round, b.high, b.left = round+1, high, b.left[:0]
	for i, a := range answers {
		r, err := message.Result(a.Message)
		if high := r.Ticks(); a.Err == nil && err == nil && r.Done() {
			b.high = max(b.high, high)
		} else {
			b.left = append(b.left, binary.BigEndian.Uint16(asked[2*i:]))
		}
	}
	return true
}

// bury brings the deletion of a table to its end: its buckets drop, then the
// record is removed. Where the step waits for them it has Calls, and if they do
// not answer it is ErrBusy. Several messages may do this at a time: all steps can
// be done twice. waited is what bury put into the State of the step before.
func (h *handling) bury(rec *record, waited []byte) (ok bool, step Step) {
	b := burial{life: rec.Incarnation, left: allBuckets(rec)}
	if b.goOn(waited, h.resume.Answers) {
		if len(b.left) == 0 {
			h.entomb(rec, b.high)
			return true, Step{}
		}
		if b.round >= rounds {
			step = h.fail(table.ErrBusy)
			step.Alarm = h.now() + patience
			return false, step
		}
	}
	step.Calls = callBuckets(rec, b.left, message.Drop(nil, b.life))
	step.State = b.append(nil)
	step.Alarm = h.now() + patience
	return false, step
}

// entomb removes the record of a table whose buckets have dropped.
func (h *handling) entomb(rec *record, high edm.Ticks) {
	if high > readTicks(h.rows, rowFloor) {
		putTicks(h.rows, rowFloor, high)
	}
	h.rows.Delete(rowOf(spaceDocuments, rec.Key.String()))
	h.rows.Delete(rowOf(spaceDeleting, rec.Key.String()))
	h.buried(rec)
	h.memory.remember(h.now(), rec.by, message.Done(nil))
}

// forgetting has the buckets of a table that is gone forget what they kept of
// it, for the table's last message. Whatever comes of it, the answer is known.
func (h *handling) forgetting(rec *record) Step {
	return Step{Calls: callBuckets(rec, allBuckets(rec), message.Forget(nil, readTicks(h.rows, rowFloor))), State: []byte{ours}}
}

func allBuckets(rec *record) []uint16 {
	all := make([]uint16, rec.home.Buckets)
	for n := range all {
		all[n] = uint16(n)
	}
	return all
}

// callBuckets sends one message to some buckets of a table.
func callBuckets(rec *record, buckets []uint16, m []byte) []durableobject.Call {
	calls := make([]durableobject.Call, len(buckets))
	for i, n := range buckets {
		calls[i] = durableobject.Call{
			Object:  durableobject.Bucket(rec.Key.String(), rec.home.Buckets, n, rec.home.Location),
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
// then it publishes. Where buckets do not answer, it leaves them alone for a while:
// each batch would wait for them. The State of its steps is, behind the first byte,
// the table's key and that of bury, or that of publish.
func (h *handling) alarm() Step {
	if !h.r.Done() {
		return h.garbled()
	}
	from, waited := "", h.resume.State
	if len(waited) > 0 && waited[0] == alarmPublishes {
		return h.published()
	}
	if len(waited) > 0 {
		r := message.Read(waited[1:])
		from, waited = r.Text(), r.Rest()
	}
	if now := h.now(); len(waited) == 0 && now < h.buries && now+patience >= h.buries {
		return h.deleting(h.publish())
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
			state := append(binary.AppendUvarint([]byte{alarmBuries}, uint64(len(key))), key...)
			step.State = append(state, step.State...)
			return step
		}
	}
	h.buries = h.now() + patience
	return h.deleting(h.publish())
}

// deleting adds to a step of publish, which sets no alarm, when tables that are being
// deleted are to be seen to.
func (h *handling) deleting(step Step) Step {
	if h.nextDeleting("") != "" {
		step.Alarm = h.buries
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
