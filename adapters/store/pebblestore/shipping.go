package pebblestore

import (
	"context"
	"errors"
	"time"

	"edgetable/adapters/store/pebblestore/logship"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// ReadLog returns a reader of the commits with numbers above after. The logs must still contain them: see
// [logship.Timeline].
func (s *Store) ReadLog(after edm.Ticks) *logship.Reader {
	return s.shipping.Read(after)
}

// Settle waits until the commits that were registered before the call are durable, or ctx ends. It returns a number
// up to which all commits are durable. whole reports whether these include every commit that returned before at.
func (s *Store) Settle(ctx context.Context, now time.Time) (number edm.Ticks, at time.Time, whole bool) {
	last := s.journal.last.Load()
	_ = s.journal.wait(ctx, last) // an error is visible in the number
	number = s.Durable()
	return number, now, int64(number) >= last
}

// Durable returns a number up to which all commits are durable.
func (s *Store) Durable() edm.Ticks { return edm.Ticks(s.journal.durable.Load()) }

// Touch makes a commit that changes nothing, and returns its number.
func (s *Store) Touch(ctx context.Context) (edm.Ticks, error) {
	if s.disk.Full() {
		return 0, table.ErrFull
	}
	return s.commitBeside(s.db.NewBatch())
}

// Timeline returns the history that the store belongs to.
func (s *Store) Timeline() logship.Timeline {
	return s.shipping.Timeline()
}

// ChangeTimeline changes what the store records about its history.
func (s *Store) ChangeTimeline(do func(*logship.Timeline)) error {
	return s.shipping.Change(0, do)
}

// BeginTimeline names the history of the store. This is needed when its log is first shipped, and when the history
// differs from the one that had the name.
func (s *Store) BeginTimeline(id, parent string, left edm.Ticks) error {
	return s.ChangeTimeline(func(t *logship.Timeline) { *t = logship.Timeline{ID: id, Parent: parent, Left: left, Since: t.Since} })
}

// Raise makes all later commits have numbers above the given one.
func (s *Store) Raise(above edm.Ticks) error {
	s.journal.numbers.Lock()
	defer s.journal.numbers.Unlock()
	return s.raise(above)
}

// raise is Raise; the caller ensures that no number is issued meanwhile. Numbers up to a second above the last one
// may be reserved, and the reservation must not become lower.
func (s *Store) raise(above edm.Ticks) error {
	above = max(above, edm.Ticks(s.journal.last.Load()))
	if err := s.reserve(above + table.Reservation); err != nil {
		return err
	}
	s.journal.clock.Raise(above)
	return nil
}

// Started returns the highest number that was possibly issued before the store was opened.
func (s *Store) Started() edm.Ticks { return s.journal.started }

// LogWritten returns how many bytes were written to the log since the store was opened,
// and the size of the logs that are kept.
func (s *Store) LogWritten() (written, kept int64) {
	_, kept = s.shipping.Kept()
	return int64(s.measured().WAL.BytesWritten), kept
}

// Span says which commits a checkpoint contains: all with numbers up to Low, and none above High. No commit ever has
// a number between High and Quiet.
type Span struct{ Low, High, Quiet edm.Ticks }

// quiet returns the highest number of a commit, and the current time if that is higher. It raises the clock, so no
// commit gets a number between the two.
func (s *Store) quiet() (last, until edm.Ticks) {
	s.journal.numbers.Lock()
	defer s.journal.numbers.Unlock()
	last = edm.Ticks(s.journal.last.Load())
	until = max(last, s.now())
	s.journal.clock.Raise(until)
	return last, until
}

// CheckpointSpan is Checkpoint for a copy to which the log is applied. All commits up to High
// are durable when it returns.
func (s *Store) CheckpointSpan(ctx context.Context, dir string) (span Span, err error) {
	_, began := s.quiet()
	low, _, whole := s.Settle(ctx, time.Time{})
	if !whole {
		return span, errors.Join(ctx.Err(), table.ErrBusy)
	}
	if low == 0 { // a new store has no commit up to the current time, and never will
		low = began
	}
	if err := s.Checkpoint(ctx, dir); err != nil {
		return span, err
	}
	high, until := s.quiet()
	return Span{low, max(low, high), until}, s.journal.wait(ctx, int64(high))
}

// KeepLogs changes the size of the logs that are kept; limit is as in Options.KeepLogs.
func (s *Store) KeepLogs(limit int64) error {
	return s.shipping.Limit(limit)
}
