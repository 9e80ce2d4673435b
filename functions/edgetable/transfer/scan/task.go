package scan

import (
	"context"
	"iter"
	"slices"
	"sync"

	"edgetable/adapters/client/remote"
	"edgetable/core/payload"
	"edgetable/functions/edgetable/transfer/internal/size"
	"edgetable/functions/edgetable/transfer/progressfile"
	"edgetable/functions/edgetable/transfer/ranges"
)

// Task is a range that one worker reads in key order, while other workers may take over its upper part. The fields that
// change while workers run are guarded by mu.
type Task struct {
	number int    // index in the order of creation
	rank   string // position in key order relative to the other ranges

	mu       sync.Mutex
	span     ranges.Range
	first    ranges.Key            // key of the first entity given to Pass
	pk, rk   []byte                // key of the last entity given to Pass
	rows     int64                 // number of entities given to Pass, including earlier runs
	estimate float64               // estimated number of entities when the range was split off; 0 if unknown
	cut      bool                  // true if another worker took over the upper part
	ended    bool                  // true if the range has been read completely
	state    progressfile.Line     // last progress line of the range
	stored   []progressfile.Stored // exported files of the range, as recorded in progress lines
	wake     func()                // callback after every size.WakeEvery entities; nil until setTasks sets it
}

func newTask(number int, span ranges.Range, rank string) *Task {
	return &Task{number: number, rank: rank, span: span, first: span.From}
}

// Rank returns the rank of the range. The ranks of ranges sort as strings in key order.
func (t *Task) Rank() string { return t.rank }

// State returns the last progress line of the range.
func (t *Task) State() progressfile.Line {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state
}

// Stored returns the exported files of the range.
func (t *Task) Stored() []progressfile.Stored {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.stored)
}

// setState sets the state after the progress line has been written.
func (t *Task) setState(state progressfile.Line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.state = state
	t.stored = append(t.stored, state.Objects...)
}

// resume restores the state from a progress line of an earlier run.
func (t *Task) resume(state progressfile.Line) {
	t.setState(state)
	t.rows = state.Rows + state.Totals.Rows()
	t.ended = state.Done
	if state.At != nil {
		t.pk, t.rk = []byte(state.At.Partition), []byte(state.At.Row)
	}
}

// Rest returns the part of the range that the progress file does not record as finished.
func (t *Task) Rest() ranges.Range {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state.At == nil {
		return t.span
	}
	return t.span.Behind(*t.state.At)
}

// Pass records that the worker has read an entity. It returns false if another worker has taken over the part of the
// range that contains the entity.
func (t *Task) Pass(partition, row string) bool {
	t.mu.Lock()
	if t.cut && (ranges.Key{Partition: partition, Row: row}).Compare(t.span.To) >= 0 {
		t.mu.Unlock()
		return false
	}
	if t.pk == nil {
		t.first = ranges.Key{Partition: partition, Row: row}.Clone()
	}
	t.pk, t.rk = append(t.pk[:0], partition...), append(t.rk[:0], row...)
	t.rows++
	wake := t.rows%size.WakeEvery == 0
	t.mu.Unlock()
	if wake {
		t.wake()
	}
	return true
}

// Last returns the key of the last entity given to Pass. The caller must hold mu, unless it is the worker of the range.
func (t *Task) Last() ranges.Key { return ranges.Key{Partition: string(t.pk), Row: string(t.rk)} }

// End records that the range has been read completely. Other workers can no longer take over a part of it.
func (t *Task) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
}

func (t *Task) finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.state.Done = true
}

// unreadPart returns the rest of the range after the last entity, and the key of this entity.
func (t *Task) unreadPart() (rest ranges.Range, at ranges.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at = t.Last()
	return t.span.Behind(at), at
}

// giveAway moves the upper part of the range to another task. It returns false if the range's worker has already
// reached this part. It holds the lock while it calls note, so that the worker cannot finish in between.
func (t *Task) giveAway(taker *Task, note func() error) (given bool, err error) {
	end := taker.span
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.span.End() == (ranges.Key{}) {
		t.span.High = end.High
	}
	if t.ended || t.Last().Compare(end.From) >= 0 {
		return false, nil
	}
	if err := note(); err != nil {
		return false, err
	}
	before, bounded := t.remainingLocked()
	t.cutAt(end.From)
	t.cut = true
	if after, still := t.remainingLocked(); bounded && still {
		taker.estimate = max(before-after, 0)
	}
	return true, nil
}

// cutAt sets the exclusive upper bound of the range to k.
func (t *Task) cutAt(k ranges.Key) { t.span.To, t.span.High = k, ranges.Key{} }

// Entities returns the entities in the unfinished part of the range and calls Pass for each of them.
func (t *Task) Entities(ctx context.Context, c *remote.Client, q remote.Query) iter.Seq2[payload.Received, error] {
	return func(yield func(payload.Received, error) bool) {
		for e, err := range InRange(ctx, c, q, t.Rest()) {
			if err == nil && !t.Pass(e.PartitionKey, e.RowKey) {
				break
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
		t.End()
	}
}

// InRange returns the entities of a range that match a query.
func InRange(ctx context.Context, c *remote.Client, q remote.Query, r ranges.Range) iter.Seq2[payload.Received, error] {
	return func(yield func(payload.Received, error) bool) {
		filter := q.Filter
		for _, f := range r.Filters() {
			q.Filter = ranges.And(f, filter)
			for e, err := range c.Entities(ctx, q) {
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// remainingRows estimates the number of unread entities from the share of the key range that has been read. If this
// share is unknown, the number is a guess and the second result is false.
func (t *Task) remainingRows() (n float64, bounded bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.remainingLocked()
}

func (t *Task) remainingLocked() (n float64, bounded bool) {
	if t.ended || t.rows < size.WakeEvery {
		return 0, t.ended
	}
	share := fraction(t.first, t.span.End(), t.Last())
	if share == 0 {
		return float64(t.rows), false // guess that half of the entities have been read
	}
	return float64(t.rows) * (1 - share) / share, true
}

// size estimates the number of entities in the range. The second result is false if there is no estimate.
func (t *Task) size() (n float64, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	left, bounded := t.remainingLocked()
	if bounded {
		return float64(t.rows) + left, true
	}
	return max(t.estimate, float64(t.rows)), t.estimate > 0
}

func (t *Task) read() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.rows
}
