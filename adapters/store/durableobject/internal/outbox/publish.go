package outbox

import (
	"bytes"
	"encoding/binary"
	"slices"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/adapters/store/durableobject/internal/turn"
	"edgetable/core/edm"
)

const (
	maxFailures    = 200 // the maximum number of counted failures
	lengthOfStride = 4 * storage.LeastRun
)

// Publish sends a batch if one is due.
func (o *Outbox) Publish(t *turn.Turn) turn.Step {
	switch {
	case o.IsDue(t.Now):
		return o.handOut(t)
	case o.on && o.purgeAt != 0 && o.purgeAt <= t.Now:
		return o.handOutPurge(t)
	}
	return t.Done()
}

// handOut sends a batch with the current state of changed rows. The same transaction records that a batch is in flight:
// after a restart, the object waits until no write of the batch can arrive.
func (o *Outbox) handOut(t *turn.Turn) turn.Step {
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
		o.marked = max(o.marked, 1) // the replica may report from now on that this object lags, even if the answer is lost
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
		// The outbox is empty, and the initial sync has no more rows.
		o.sync = f.sync
		if o.sync == nil && o.pass.clean {
			o.since = o.pass.begin
		}
		o.pass, o.ask, o.failures = pass{}, t.Now, 0
		o.pending = o.hasChanges(t.Rows)
		o.put(t.Rows)
		return t.Done()
	}
	o.retryAfter = t.Now + batchTimeout
	o.failures = min(o.failures, maxFailures) + 1
	o.put(t.Rows)
	return o.send(t, f, batch, wakes)
}

func (o *Outbox) addChanges(t *turn.Turn, f *batchInFlight, batch []byte) []byte {
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

// AcceptResult handles the result of a batch. It ignores the result of a batch from before a restart, or of a batch
// that another one has replaced.
func (o *Outbox) AcceptResult(t *turn.Turn) turn.Step {
	f, answers := o.inFlight, t.Answers
	if !o.on || f == nil || t.Resumed.Batch != f.number || len(answers) == 0 {
		return t.Done()
	}
	o.inFlight = nil
	n := len(f.changes) + len(f.synced)
	result, ok := durableobject.ReadPublished(answers[0].Message, n)
	if f.purge {
		if !ok || answers[0].Err != nil || !result.Certain || result.Failed {
			return t.Done() // the purge may have failed and is sent again
		}
		return o.acceptPurgeResult(t, f, result.More)
	}
	switch {
	case answers[0].Err == durableobject.ErrUnreachable: // nothing was written
		result = durableobject.Published{Certain: true, Failed: true, Done: make([]bool, n)}
	case answers[0].Err != nil || !ok:
		o.pass = pass{}
		return t.Done() // wait until the batch times out, because its writes may still arrive
	}
	all := o.acknowledge(t, f, result.Done)
	synced := o.advanceSync(t, f, result.Done[len(f.changes):], answers[1:])
	o.noteMark(t, f, result)
	o.advancePass(t, f, all)
	o.schedule(t, f, result, all && synced)
	o.put(t.Rows)
	return t.Done()
}

// noteMark stores whether the replica may report a lag of this object. It does nothing if the batch has not changed
// this.
func (o *Outbox) noteMark(t *turn.Turn, f *batchInFlight, result durableobject.Published) {
	switch {
	case !result.Marked:
	case f.mark == message.MarkLagging:
		o.marked = t.Now
	case f.mark == message.MarkForget:
		o.marked = 0
	}
}

// advancePass moves the pass past the changes of a batch, or ends the pass. If all is true, all changes of the batch
// are published.
func (o *Outbox) advancePass(t *turn.Turn, f *batchInFlight, all bool) {
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

// schedule sets the time of the next batch. If all is true, the whole batch is published and the initial sync has
// advanced.
func (o *Outbox) schedule(t *turn.Turn, f *batchInFlight, result durableobject.Published, all bool) {
	// A batch that published nothing counts as a failure, so that the delay grows: a quota may be exhausted for a day.
	stuck := !slices.Contains(result.Done, true) && (f.mark == message.MarkNothing || !result.Marked)
	switch {
	case !result.Certain:
		o.retryAfter = t.Now + batchTimeout
	case result.Failed || stuck:
		o.retryAfter = t.Now + backoff(o.failures)
	case all && (f.next != nil || o.sync != nil):
		o.retryAfter, o.failures = t.Now, 0
	default:
		o.retryAfter, o.failures = t.Now+collect, 0
	}
	o.ask = t.Now
}

func backoff(failures byte) edm.Ticks {
	return min(edm.Ticks(collect)<<min(failures-1, 10), maxDelay)
}

// acknowledge removes published rows from the outbox, except rows that have changed since. It reports whether all
// changes of the batch are published.
func (o *Outbox) acknowledge(t *turn.Turn, f *batchInFlight, done []bool) (all bool) {
	all = true
	for i, c := range f.changes {
		if !done[i] {
			all = false
			continue
		}
		if at, ok := o.Unpublished(t.Rows, c.key); ok && at == c.at {
			t.Rows.Delete(o.changeKey(c.key))
		}
	}
	return all
}
