package engine

import (
	"bytes"
	"encoding/binary"
	"slices"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/record"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/edm"
	"edgetable/core/table"
)

const (
	// A batch has at most maxChanges changes. It has less than maxBatch bytes before its last change, which may
	// have 1.5 MB, so that a batch fits into 2 MiB. During the initial sync, at most maxDuringSync changes are from
	// the outbox, which leaves space for rows of the sync.
	maxChanges     = 100
	maxDuringSync  = 75
	maxBatch       = 256 << 10
	maxFailures    = 200
	lengthOfStride = 4 * leastRun
)

// pass is one iteration over the outbox. A row that changes all the time appears once in a pass, so that other rows need not wait.
type pass struct {
	next  []byte    // where the iteration continues, nil if it has not begun
	begin edm.Ticks // when the iteration began; all earlier changes were in the outbox then
	clean bool      // whether all rows that this iteration sent are published
	later bool      // whether the iteration needs more than one batch
}

// batchInFlight is a batch that was sent and has no answer yet.
type batchInFlight struct {
	number      uint64 // a random number; it shows that an answer does not belong to a batch of an earlier engine
	changes     []change
	next        []byte // where the pass continues after the batch, nil if the pass ends with it
	synced      []syncedRow
	sync        []byte // where the initial sync continues after the batch, nil if the sync ends with it
	mark        message.Mark
	purge       bool // whether the batch is a purge of the incarnation
	incarnation table.Incarnation
}

// change is the key of a row that changed, and the time of the change.
type change struct {
	key []byte
	at  edm.Ticks
}

// publish sends a batch if one is due.
func (o *outbox) publish(t *turn.Turn) turn.Step {
	switch at := o.due(); {
	case !o.on:
	case at != 0 && at <= t.Now:
		return o.handOut(t)
	case o.purgeAt != 0 && o.purgeAt <= t.Now:
		return o.handOutPurge(t)
	}
	return t.Done()
}

// send calls the publisher with a batch, which the caller appended to dst.
func (o *outbox) send(t *turn.Turn, f *batchInFlight, batch []byte, wakes []durableobject.Call) turn.Step {
	f.number = o.rand()
	o.inFlight = f
	return turn.Step{
		Answer: batch,
		Calls:  append([]durableobject.Call{{To: durableobject.Replica, Message: batch[len(t.Dst):]}}, wakes...),
		Next:   &turn.Continuation{Kind: turn.Publishes, Batch: f.number},
	}
}

// handOut sends a batch with the current state of changed rows. The same transaction stores that a batch is in flight, so that a later engine
// waits until no write of the batch can arrive any more. An engine that lost its storage cannot store this, and sends nothing.
func (o *outbox) handOut(t *turn.Turn) turn.Step {
	f := &batchInFlight{}
	if o.pass.next == nil {
		o.pass = pass{next: []byte{storage.SpaceOutbox}, begin: max(t.Now, o.clock.Last), clean: true}
	}
	late := (o.pending || o.sync != nil) && o.since < t.Now-lagging && (o.failures > 0 || o.sync != nil || o.pass.later)
	switch {
	case late && (o.marked == 0 || o.marked < t.Now-lagging):
		f.mark = message.MarkLagging
	case !late && o.marked != 0 && o.marked <= t.Now-caughtUp:
		f.mark = message.MarkForget
	}
	if f.mark == message.MarkLagging {
		o.marked = max(o.marked, 1) // from now on the replica may show that this object lags, even if the answer is lost
	}
	head := message.BatchHead{Incarnation: o.incarnation, Source: o.source, Mark: f.mark, Since: o.since}
	batch := o.addChanges(t, f, message.AppendBatch(t.Dst, &head))
	var wakes []durableobject.Call
	if o.sync != nil && o.restUntil <= t.Now && !fills(t, batch) {
		batch, wakes = o.addSync(t, f, batch)
	} else {
		f.sync = o.sync
	}
	if len(f.changes)+len(f.synced) == 0 && f.mark == message.MarkNothing {
		// The outbox is empty, and no row of an initial sync is left.
		o.sync = f.sync
		if o.sync == nil && o.pass.clean {
			o.since = o.pass.begin
		}
		o.pass, o.ask, o.failures = pass{}, t.Now, 0
		o.pending = o.hasChanges(t.Rows)
		o.put(t.Rows)
		return t.Done()
	}
	o.until = t.Now + batchTimeout
	o.failures = min(o.failures, maxFailures) + 1
	o.put(t.Rows)
	return o.send(t, f, batch, wakes)
}

// addChanges adds rows of the outbox to a batch.
func (o *outbox) addChanges(t *turn.Turn, f *batchInFlight, batch []byte) []byte {
	limit := maxChanges
	if o.sync != nil {
		limit = maxDuringSync
	}
	for k, v := range t.Rows.Scan(o.pass.next, o.endOfOutbox(), lengthOfStride) {
		if len(f.changes) == limit {
			f.next = bytes.Clone(k)
			break
		}
		if len(v) == 8 {
			f.changes = append(f.changes, change{bytes.Clone(k[1:]), edm.Ticks(binary.BigEndian.Uint64(v))})
		}
	}
	for i, c := range f.changes {
		if i > 0 && fills(t, batch) {
			f.next = append([]byte{storage.SpaceOutbox}, c.key...)
			f.changes = f.changes[:i]
			break
		}
		v, ok := t.Rows.Get(c.key)
		batch, _ = o.addRow(batch, c, v, ok)
	}
	return batch
}

// fills reports whether a batch has its maximum size.
func fills(t *turn.Turn, batch []byte) bool { return len(batch)-len(t.Dst) >= maxBatch }

// addRow adds the state of a row to a batch. If the row is a record that the batch does not show as deleted,
// addRow returns the record.
func (o *outbox) addRow(batch []byte, c change, v []byte, ok bool) ([]byte, record.Record) {
	b := message.BatchChange{Record: c.key[0] == storage.SpaceRecords, Gone: !ok, Ticks: c.at, Key: c.key[1:], Value: v}
	var rec record.Record
	if ok && b.Record {
		rec, ok = record.Parse(v)
		// Readers of some tables must ask the objects, so the batch shows some records as deleted: damaged records, records
		// of tables that are being deleted, records of tables outside the replica's jurisdiction, and records that declare
		// options, because the replica does not implement options.
		if b.Gone = !ok || rec.Deleting || rec.Traits != nil || !o.publishes(rec.Layout.Location); b.Gone {
			rec = record.Record{}
		} else {
			b.Value = message.AppendDocument(nil, &rec.Record)
		}
	}
	if b.Gone {
		b.Value = nil
	}
	return message.AppendChange(batch, &b), rec
}

// acceptResult handles the result of a batch. It ignores the result of an unknown batch: an earlier engine sent that batch, or another batch has
// replaced it.
func (o *outbox) acceptResult(t *turn.Turn) turn.Step {
	f, answers := o.inFlight, t.Answers
	if !o.on || f == nil || t.Resumed.Batch != f.number || len(answers) == 0 {
		return t.Done()
	}
	o.inFlight = nil
	n := len(f.changes) + len(f.synced)
	result, ok := durableobject.ReadPublished(answers[0].Message, n)
	if f.purge {
		if !ok || answers[0].Err != nil || !result.Certain || result.Failed {
			return t.Done() // the purge is sent again
		}
		return o.acceptPurgeResult(t, f, result.More)
	}
	switch {
	case answers[0].Err == durableobject.ErrUnreachable: // nothing was written
		result = durableobject.Published{Certain: true, Failed: true, Done: make([]bool, n)}
	case answers[0].Err != nil || !ok:
		o.pass = pass{}
		return t.Done() // wait for the batch timeout
	}
	all := o.acknowledge(t, f, result.Done)
	synced := o.advanceSync(t, f, result.Done[len(f.changes):], answers[1:])
	o.noteMark(t, f, result)
	o.advancePass(t, f, all)
	o.schedule(t, f, result, all && synced)
	o.put(t.Rows)
	return t.Done()
}

// The replica may report that this object lags. If the batch has begun or ended such a report, noteMark stores that.
func (o *outbox) noteMark(t *turn.Turn, f *batchInFlight, result durableobject.Published) {
	switch {
	case !result.Marked:
	case f.mark == message.MarkLagging:
		o.marked = t.Now
	case f.mark == message.MarkForget:
		o.marked = 0
	}
}

// advancePass moves the pass past the changes of a batch, or ends the pass. all is true if all changes of the batch are published.
func (o *outbox) advancePass(t *turn.Turn, f *batchInFlight, all bool) {
	o.pass.clean = o.pass.clean && all
	o.pass.next, o.pass.later = f.next, true
	if f.next != nil {
		return
	}
	if o.pass.clean && o.sync == nil {
		o.since = o.pass.begin
	}
	o.pass = pass{}
	o.pending = o.hasChanges(t.Rows)
}

// schedule sets the time of the next batch. all is true if the whole batch is published and the initial sync has advanced.
func (o *outbox) schedule(t *turn.Turn, f *batchInFlight, result durableobject.Published, all bool) {
	// If a batch published nothing, a quota may be exhausted for a day. So such a batch counts as a failure, and the delay grows.
	stuck := !slices.Contains(result.Done, true) && (f.mark == message.MarkNothing || !result.Marked)
	switch {
	case !result.Certain:
		o.until = t.Now + batchTimeout
	case result.Failed || stuck:
		o.until = t.Now + backoff(o.failures)
	case all && (f.next != nil || o.sync != nil):
		o.until, o.failures = t.Now, 0
	default:
		o.until, o.failures = t.Now+collect, 0
	}
	o.ask = t.Now
}

// backoff returns the delay after this many failures.
func backoff(failures byte) edm.Ticks {
	return min(edm.Ticks(collect)<<min(failures-1, 10), maxDelay)
}

// acknowledge removes published rows from the outbox, except rows that changed after the batch was made. It
// reports whether the whole batch is published.
func (o *outbox) acknowledge(t *turn.Turn, f *batchInFlight, done []bool) (all bool) {
	all = true
	for i, c := range f.changes {
		if !done[i] {
			all = false
			continue
		}
		k := o.changeKey(c.key)
		if v, ok := t.Rows.Get(k); ok && len(v) == 8 && edm.Ticks(binary.BigEndian.Uint64(v)) == c.at {
			t.Rows.Delete(k)
		}
	}
	return all
}
