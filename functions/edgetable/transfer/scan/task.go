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

// Task is a range that one worker reads in key order. At the same time, other workers may take over the
// upper part of the range. Only the methods of Task change a Task, while they hold its lock.
type Task struct {
	number int    // number of the range in the order in which the ranges were made
	rank   string // rank of the range, which sorts ranges in key order

	mu     sync.Mutex
	span   ranges.Range
	first  ranges.Key            // key of the first recorded entity; the method Pass records the entities
	pk, rk []byte                // keys of the last recorded entity
	rows   int64                 // number of recorded entities, including earlier runs
	guess  float64               // number of entities that was estimated when the range was split off from another range; 0 if unknown
	cut    bool                  // another worker took over the upper part while the range was being read
	ended  bool                  // the range was read to its end
	state  progressfile.Line     // last line about the range in the progress file
	stored []progressfile.Stored // exported files of the range, as recorded in the progress file
	wake   func()                // called after every size.WakeEvery entities; nil before the work begins
}

func newTask(number int, span ranges.Range, rank string) *Task {
	return &Task{number: number, rank: rank, span: span, first: span.From}
}

// Rank returns the rank of the range. Ranks sort ranges in the order of their keys.
func (t *Task) Rank() string { return t.rank }

// State returns the last line about the range in the progress file.
func (t *Task) State() progressfile.Line {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state
}

// Stored returns the files that an export stored for the range.
func (t *Task) Stored() []progressfile.Stored {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.stored)
}

// setState records a line in memory after the line was written to the progress file.
func (t *Task) setState(state progressfile.Line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.state = state
	t.stored = append(t.stored, state.Objects...)
}

// resume restores the state of the range from a line that an earlier run has written.
func (t *Task) resume(state progressfile.Line) {
	t.setState(state)
	t.rows = state.Rows + state.Totals.Rows()
	t.ended = state.Done
	if state.At != nil {
		t.pk, t.rk = []byte(state.At.Partition), []byte(state.At.Row)
	}
}

// Rest returns the part of the range that is not finished according to the progress file.
func (t *Task) Rest() ranges.Range {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state.At == nil {
		return t.span
	}
	return t.span.Behind(*t.state.At)
}

// Pass records the next entity that the worker has read. It returns false if another worker has taken over
// the part of the range that contains this entity.
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

// Last returns the key of the last entity that the method Pass has recorded. Only the worker of the range
// may call Last without holding the lock.
func (t *Task) Last() ranges.Key { return ranges.Key{Partition: string(t.pk), Row: string(t.rk)} }

// End records that the range was read to its end. After End, no other worker can take over a part of the
// range.
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

// unreadPart returns the part of the range after the last recorded entity. It also returns the key of that
// entity.
func (t *Task) unreadPart() (rest ranges.Range, at ranges.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at = t.Last()
	return t.span.Behind(at), at
}

// giveAway moves the upper part of the range to the task taker. It returns false if the worker of the range
// has already reached the upper part. giveAway holds the lock while the callback note records the division.
// Meanwhile the worker of the range cannot finish the shorter range.
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
		taker.guess = max(before-after, 0)
	}
	return true, nil
}

// cutAt makes the key k the exclusive upper bound of the range.
func (t *Task) cutAt(k ranges.Key) { t.span.To, t.span.High = k, ranges.Key{} }

// Entities returns the entities in the unfinished part of the range, and records each entity with Pass.
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

// remainingRows estimates the number n of unread entities. The estimate uses the share of the keys that was
// read. If this share is unknown, the result bounded is false, and n is only a guess.
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
		return float64(t.rows), false // half of the entities, because there is no estimate
	}
	return float64(t.rows) * (1 - share) / share, true
}

// size estimates the number of entities in the range. known is false if an estimate is not possible.
func (t *Task) size() (n float64, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	left, bounded := t.remainingLocked()
	if bounded {
		return float64(t.rows) + left, true
	}
	return max(t.guess, float64(t.rows)), t.guess > 0
}

func (t *Task) read() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.rows
}
