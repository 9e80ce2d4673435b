package object

import (
	"bytes"
	"encoding/binary"
	"slices"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/table"
)

const (
	// A batch has so many changes at most, and so many bytes before its last, which
	// may have 1.5 MB: together they fit into 2 MiB. While all rows are published,
	// changes leave some room for them.
	maxChanges = 100
	mostOfThem = 75
	maxBatch   = 256 << 10
)

// lap is one way through the outbox, so that a row that changes all the time
// keeps none waiting behind it.
type lap struct {
	next  []byte    // where to go on, nil: it has not begun
	begin edm.Ticks // all changes before were in the outbox then
	clean bool      // all of them that were handed out are published
	later bool      // it takes more than one batch
}

// flight is what was handed out.
type flight struct {
	number  uint64   // random: a memory before this one may have handed out another
	changes []change // of the outbox
	next    []byte   // where the lap goes on, nil: it ended
	walked  []walked
	walk    []byte // where the walk goes on behind them, nil: it ended
	mark    message.Mark
	life    table.Incarnation // that is purged
	purge   bool
}

// change is a row of the outbox: the key of the row that changed, and when.
type change struct {
	key []byte
	at  edm.Ticks
}

// publish hands out what is due, if anything is, behind what an alarm had to do
// besides.
func (h *handling) publish() Step {
	o := &h.outbox
	now := h.now()
	switch at := o.due(); {
	case !o.on:
	case at != 0 && at <= now:
		return h.handOut(now)
	case o.purge != 0 && o.purge <= now:
		return h.handOutPurge(now)
	}
	return h.done()
}

// fly gives a batch, which is appended to dst, to whoever publishes it, for a step
// that is its alarm's.
func (h *handling) fly(f *flight, batch []byte, wakes []durableobject.Call) Step {
	f.number = h.rand()
	h.outbox.flight = f
	return Step{
		Answer: batch,
		Calls:  append([]durableobject.Call{{Object: durableobject.Replica, Message: batch[len(h.dst):]}}, wakes...),
		State:  binary.BigEndian.AppendUint64([]byte{alarmPublishes}, f.number),
	}
}

// handOut makes a batch of rows as they are now. That it is out is a row before
// it can be: who comes after us waits until nothing of it can arrive any more,
// and a predecessor that lost its storage cannot hand out anything.
func (h *handling) handOut(now edm.Ticks) Step {
	o := &h.outbox
	f := &flight{}
	if o.lap.next == nil {
		o.lap = lap{next: []byte{spaceOutbox}, begin: max(now, h.clock.last), clean: true}
	}
	late := (o.pending || o.walk != nil) && o.since < now-lagging && (o.failures > 0 || o.walk != nil || o.lap.later)
	switch {
	case late && (o.marked == 0 || o.marked < now-lagging):
		f.mark = message.MarkLagging
	case !late && o.marked != 0 && o.marked <= now-caught:
		f.mark = message.MarkForget
	}
	head := message.BatchHead{Life: h.marker.incarnation, Source: o.source, Mark: f.mark, Since: o.since}
	batch := h.addChanges(f, message.AppendBatch(h.dst, &head))
	var wakes []durableobject.Call
	if o.walk != nil && o.rests <= now && !h.fills(batch) {
		batch, wakes = h.addWalk(f, batch)
	} else {
		f.walk = o.walk
	}
	if len(f.changes)+len(f.walked) == 0 && f.mark == message.MarkNothing {
		// There is nothing: also a walk ends so.
		o.walk = f.walk
		if o.walk == nil && o.lap.clean {
			o.since = o.lap.begin
		}
		o.lap, o.ask, o.failures = lap{}, now, 0
		o.pending = h.outboxHasRows()
		o.put(h.rows)
		return h.done()
	}
	o.until = now + lease
	o.failures = min(o.failures, 200) + 1
	o.put(h.rows)
	return h.fly(f, batch, wakes)
}

// addChanges adds rows of the outbox to a batch.
func (h *handling) addChanges(f *flight, batch []byte) []byte {
	o := &h.outbox
	limit := maxChanges
	if o.walk != nil {
		limit = mostOfThem
	}
	for k, v := range h.rows.Scan(o.lap.next, []byte{spaceOutbox + 1}, 4*leastRun) {
		if len(f.changes) == limit {
			f.next = bytes.Clone(k)
			break
		}
		if len(v) == 8 {
			f.changes = append(f.changes, change{bytes.Clone(k[1:]), edm.Ticks(binary.BigEndian.Uint64(v))})
		}
	}
	for i, c := range f.changes {
		if i > 0 && h.fills(batch) {
			f.next = append([]byte{spaceOutbox}, c.key...)
			f.changes = f.changes[:i]
			break
		}
		v, ok := h.rows.Get(c.key)
		batch, _ = h.addRow(batch, c, v, ok)
	}
	return batch
}

// fills reports whether a batch has as many bytes as it is to have.
func (h *handling) fills(batch []byte) bool { return len(batch)-len(h.dst) >= maxBatch }

// addRow adds the state of a row to a batch, and says of a record that is shown what
// it is.
func (h *handling) addRow(batch []byte, c change, v []byte, ok bool) ([]byte, record) {
	b := message.BatchChange{Document: c.key[0] == spaceDocuments, Gone: !ok, Ticks: c.at, Key: c.key[1:], Value: v}
	var rec record
	if ok && b.Document {
		rec, ok = parseRecord(v)
		// A table that is being deleted is none. What is damaged is not shown, and
		// neither is a table whose buckets are where the replica is not.
		if b.Gone = !ok || rec.deleting || !h.shows(rec.home.Location); b.Gone {
			rec = record{}
		} else {
			b.Value = message.AppendDocument(nil, &rec.Record)
		}
	}
	if b.Gone {
		b.Value = nil
	}
	return message.AppendChange(batch, &b), rec
}

// published takes what came of a batch. If its flight was lost with our memory,
// or was taken for lost and another began, nothing is known of it.
func (h *handling) published() Step {
	o := &h.outbox
	f := o.flight
	state, answers := h.resume.State, h.resume.Answers
	if !o.on || f == nil || len(state) != 9 || binary.BigEndian.Uint64(state[1:]) != f.number || len(answers) == 0 {
		return h.done()
	}
	o.flight = nil
	result, ok := durableobject.ReadPublished(answers[0].Message, len(f.changes)+len(f.walked))
	if f.purge {
		if !ok || answers[0].Err != nil || !result.Certain || result.Failed {
			return h.done() // it is handed out again
		}
		return h.purged(f, result.More)
	}
	now := h.now()
	switch {
	case answers[0].Err == durableobject.ErrUnreachable: // nothing was written
		result = durableobject.Published{Certain: true, Failed: true, Done: make([]bool, len(f.changes)+len(f.walked))}
	case answers[0].Err != nil || !ok:
		o.lap = lap{}
		return h.done() // the lease is waited for
	}
	// Where nothing gets on, it is as if it failed: a quota may be used up for a day.
	stuck := !slices.Contains(result.Done, true) && (f.mark == message.MarkNothing || !result.Marked)
	all := h.acknowledge(f, result.Done)
	whole := h.walkOn(f, result.Done[len(f.changes):], answers[1:])
	switch {
	case !result.Marked:
	case f.mark == message.MarkLagging:
		o.marked = now
	case f.mark == message.MarkForget:
		o.marked = 0
	}
	o.lap.clean = o.lap.clean && all
	o.lap.next, o.lap.later = f.next, true
	if f.next == nil {
		if o.lap.clean && o.walk == nil {
			o.since = o.lap.begin
		}
		o.lap = lap{}
		o.pending = h.outboxHasRows()
	}
	switch {
	case !result.Certain:
		o.until = now + lease
	case result.Failed || stuck:
		o.until = now + backoff(o.failures)
	case all && whole && (f.next != nil || o.walk != nil):
		o.until, o.failures = now, 0
	default:
		o.until, o.failures = now+delay, 0
	}
	o.ask = now
	o.put(h.rows)
	return h.done()
}

// backoff is for how long nothing is tried after so many failures.
func backoff(failures byte) edm.Ticks {
	return min(edm.Ticks(delay)<<min(failures-1, 10), longest)
}

// acknowledge removes rows from the outbox that did not change since they were
// handed out, of those that are published. It reports whether all are.
func (h *handling) acknowledge(f *flight, done []bool) (all bool) {
	all = true
	for i, c := range f.changes {
		if !done[i] {
			all = false
			continue
		}
		h.out = append(append(h.out[:0], spaceOutbox), c.key...)
		if v, ok := h.rows.Get(h.out); ok && len(v) == 8 && edm.Ticks(binary.BigEndian.Uint64(v)) == c.at {
			h.rows.Delete(h.out)
		}
	}
	return all
}
