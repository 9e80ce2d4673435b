package pebblestore

import (
	"context"
	"errors"
	"time"

	"edgetable/core/commitlog"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// ReadLog returns a reader of all commits with numbers > after. The logs must still contain these commits, see
// [commitlog.Timeline].
func (s *Store) ReadLog(after edm.Ticks) commitlog.Reader { return s.shipping.Read(after) }

// AwaitDurable waits until all commits registered before the call are durable, or until ctx is done. It returns a
// number up to which all commits are durable, and the argument now.
//
// The result complete reports whether these commits include every commit whose caller got its reply before the time
// now.
func (s *Store) AwaitDurable(ctx context.Context, now time.Time) (number edm.Ticks, at time.Time, complete bool) {
	last := s.journal.last.Load()
	_ = s.journal.wait(ctx, last) // the wait may fail, so s.Durable() may be lower than last
	number = s.Durable()
	return number, now, int64(number) >= last
}

// Durable returns a number up to which all commits are durable.
func (s *Store) Durable() edm.Ticks { return edm.Ticks(s.journal.durable.Load()) }

// Touch makes a commit that changes no data.
func (s *Store) Touch(ctx context.Context) error {
	if err := s.disk.Refusal(); err != nil {
		return err
	}
	_, err := s.commitInternal(s.db.NewBatch())
	return err
}

// Timeline returns the timeline to which the commits of the store belong.
func (s *Store) Timeline() commitlog.Timeline { return s.shipping.Timeline() }

// ChangeTimeline passes the timeline of the store to a function that changes it. Then it stores the timeline durably.
func (s *Store) ChangeTimeline(do func(*commitlog.Timeline)) error {
	return s.shipping.Change(0, do)
}

// BeginTimeline gives the timeline of the store an ID. It is called when the log is first shipped, and when the store
// begins another timeline.
func (s *Store) BeginTimeline(id, parent string, left edm.Ticks) error {
	return s.ChangeTimeline(func(t *commitlog.Timeline) {
		*t = commitlog.Timeline{ID: id, Parent: parent, ForkedAt: left, LogAfter: t.LogAfter, Location: t.Location}
	})
}

// Raise makes the numbers of all later commits higher than the given number.
func (s *Store) Raise(above edm.Ticks) error {
	s.journal.numbers.Lock()
	defer s.journal.numbers.Unlock()
	return s.raise(above)
}

// raise is like Raise, but journal.numbers must be held. It reserves at least the numbers that the clock has reserved:
// a reservation must never become lower.
func (s *Store) raise(above edm.Ticks) error {
	above = max(above, edm.Ticks(s.journal.last.Load()))
	if err := s.reserve(above + table.Reservation); err != nil {
		return err
	}
	s.journal.clock.Raise(above)
	return nil
}

// Started returns the highest commit number that earlier processes may have issued.
func (s *Store) Started() edm.Ticks { return s.journal.started }

// LogWritten returns the number of bytes written to the log since the store was opened, and the total size of the logs
// kept for shipping.
func (s *Store) LogWritten() (bytesWritten, bytesKept int64) {
	_, bytesKept = s.shipping.Kept()
	return int64(s.pebbleMetrics().WAL.BytesWritten), bytesKept
}

// Span says which commits a checkpoint contains: all up to Low, and none above High. No commit ever gets a number in
// (High, Quiet].
type Span struct{ Low, High, Quiet edm.Ticks }

// raiseToNow raises the clock to the current time. The result last is the highest commit number issued so far. No
// commit gets a number in (last, end].
func (s *Store) raiseToNow() (last, end edm.Ticks) {
	s.journal.numbers.Lock()
	defer s.journal.numbers.Unlock()
	last = edm.Ticks(s.journal.last.Load())
	end = max(last, s.now())
	s.journal.clock.Raise(end)
	return last, end
}

// CheckpointSpan makes a [Store.Checkpoint] to which the shipped log can be applied. When it returns, all commits up to
// span.High are durable.
func (s *Store) CheckpointSpan(ctx context.Context, dir string) (span Span, err error) {
	_, began := s.raiseToNow()
	low, _, whole := s.AwaitDurable(ctx, time.Time{})
	if !whole {
		return span, errors.Join(ctx.Err(), table.ErrBusy)
	}
	if low == 0 { // a new store has no commit, and the numbers of all its commits will be above the value of began
		low = began
	}
	if err := s.Checkpoint(ctx, dir); err != nil {
		return span, err
	}
	high, until := s.raiseToNow()
	return Span{low, max(low, high), until}, s.journal.wait(ctx, int64(high))
}

// KeepLogs changes the maximum total size in bytes of the kept logs; 0 means that no logs are kept.
func (s *Store) KeepLogs(limit int64) error {
	return s.shipping.Limit(limit)
}
