package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"edgetable/core/table"
)

// MaxBuckets is the most buckets that a table should be spread over: a
// scan of the whole table begins with a call for each.
const MaxBuckets = 256

// RebucketOptions say what [Store.Rebucket] is to do.
type RebucketOptions struct {
	// Buckets is the number of buckets the table is to have, 1 to MaxBuckets.
	Buckets uint16
	// Abort gives a run up that did not come to its end, instead: the table stays
	// as it is, and Purge removes the copy. Buckets is of no account then.
	Abort bool
	// MaxPause is how long writes may be refused, as far as that can be foreseen;
	// 0 is any time. If it is going to be longer, Rebucket stops before that with a
	// *[PauseError]; the copy stays, and a later run goes on.
	MaxPause time.Duration
	// Report, which may be nil, is told how the run gets on: after every group of
	// entities written and every few thousand compared. Its error ends the run
	// where a later one can go on.
	Report func(RebucketProgress) error
}

// RebucketProgress is how far a run has come.
type RebucketProgress struct {
	State RebucketState
	// Pass is the number of the comparison of table and copy under way, from 1.
	Pass int
	// Rows were compared in this pass, those of them copied, and Deleted from the copy.
	Rows, Copied, Deleted int
	// Pause is how long writes will be refused, from [RebucketClosing] on: as long as
	// the pass before took, and leases last.
	Pause time.Duration
}

// RebucketState is what a run does.
type RebucketState uint8

const (
	// RebucketCopying: it brings the copy up to date. Everybody reads and writes.
	RebucketCopying RebucketState = iota
	// RebucketClosing: writes are about to be refused, or already are, and those who
	// do not know yet are waited for.
	RebucketClosing
	// RebucketLast: the last pass. Writes are refused.
	RebucketLast
	// RebucketDone: the table has the new buckets.
	RebucketDone
	// RebucketUnchanged: it had them already, or there was nothing to abort.
	RebucketUnchanged
	// RebucketAborted: the copy was given up.
	RebucketAborted
)

func (s RebucketState) String() string {
	return [...]string{"copying", "closing", "last pass", "done", "nothing to do", "aborted"}[s]
}

// Why a run ended before the table had its new buckets.
var (
	// ErrBuckets: the number is not 1 to MaxBuckets.
	ErrBuckets = errors.New("dynamodb: a table has 1 to 256 buckets")
	// ErrSuperseded: another run of Rebucket has taken over, or has done the work.
	ErrSuperseded = errors.New("dynamodb: another run of rebucket has taken over")
	// ErrAborted: the run was aborted by another.
	ErrAborted = errors.New("dynamodb: the run of rebucket was aborted")
	// ErrSilent: while it kept writes waiting, the run showed no sign of life for
	// half a minute, so they were let in. A later run goes on.
	ErrSilent = errors.New("dynamodb: rebucket kept writes waiting too long and was stopped; run it again")
)

// PauseError: writes would be refused for longer than the options allow.
type PauseError struct{ Expected, Max time.Duration }

func (e *PauseError) Error() string {
	return fmt.Sprintf("dynamodb: writes would wait about %v for the last pass, at most %v is allowed; the copy is kept", e.Expected.Round(time.Millisecond), e.Max)
}

// UnfinishedError: a run to another number of buckets has not come to its end.
type UnfinishedError struct{ Buckets uint16 }

func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("dynamodb: a run to %d buckets is not finished: finish it with the same number, or abort it", e.Buckets)
}

// Rebucket spreads a table over another number of buckets.
//
// It copies the entities to a new incarnation, with their Timestamps, while the
// table is read and written, and compares the two, again and again, until few
// differ. Then it seals the table: writes are answered [table.ErrBusy]. When
// nobody can have the record cached without the seal, it compares for the last
// time, and one transaction makes the copy the table and leaves the old
// incarnation to [Store.Purge]. Reads go on throughout; during the last pass those
// of entities that differ wait until they are copied.
//
// A run that was cut off is gone on with by the next one with the same Buckets,
// which also stops one that is still under way. A seal whose run has died is lifted
// by the first process whose write was refused for half a minute. All processes
// that use the DynamoDB table must have the same lease, or none above 2 seconds.
//
// It writes every entity once in a transaction and reads it twice, and then reads
// both sides in every pass. Its errors are [table.ErrNoTable], also when the table
// is deleted meanwhile, those declared here, and those of the store.
func (s *Store) Rebucket(ctx context.Context, name table.RecordKey, o RebucketOptions) error {
	if o.Report == nil {
		o.Report = func(RebucketProgress) error { return nil }
	}
	if o.Abort {
		return s.abortRebucket(ctx, name, o.Report)
	}
	if o.Buckets == 0 || o.Buckets > MaxBuckets {
		return ErrBuckets
	}
	m := mover{Store: s, RebucketOptions: o, name: name, owner: string(s.newRevision())}
	if err := m.claim(ctx); err != nil {
		return err
	}
	if m.State == RebucketUnchanged {
		return o.Report(m.RebucketProgress)
	}
	took, err := m.approach(ctx)
	if err != nil {
		return err
	}
	m.State, m.Pause = RebucketClosing, took+m.grace()
	if err := m.Report(m.RebucketProgress); err != nil {
		return err
	}
	if m.MaxPause > 0 && m.Pause > m.MaxPause {
		return &PauseError{m.Pause, m.MaxPause}
	}
	if err := m.conclude(ctx); err != nil {
		return err
	}
	m.State = RebucketDone
	return m.Report(m.RebucketProgress)
}

// mover is one run of Rebucket.
type mover struct {
	*Store
	RebucketOptions
	RebucketProgress
	name     table.RecordKey
	owner    string
	from, to life
	beat     int
	beaten   time.Duration // when the last beat was
}

const (
	// maxPasses bounds how often a run compares before the seal.
	maxPasses = 20
	// few differences are done with in a few transactions.
	few = 100
)

// approach compares and copies until another pass would not make the last one
// shorter: few entities differed, or not less than half as many as the time
// before. It returns how long the last comparison took.
func (m *mover) approach(ctx context.Context) (took time.Duration, err error) {
	for before := 0; ; {
		began := m.elapsed()
		m.Pass++
		if err := m.pass(ctx, false); err != nil {
			return 0, err
		}
		took = m.elapsed() - began
		changes := m.Copied + m.Deleted
		if changes <= few || m.Pass > 1 && changes > before/2 || m.Pass == maxPasses {
			return took, nil
		}
		before = changes
	}
}

// grace is the time after which nobody relies on a record without the seal.
func (m *mover) grace() time.Duration { return max(m.lease, defaultLease) + leaseMargin }

// conclude seals the table, compares for the last time and moves it.
func (m *mover) conclude(ctx context.Context) (err error) {
	defer func() {
		if err != nil { // however it ended: writes must not wait for a run that is over
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.deadline)
			defer cancel()
			m.release(ctx)
		}
	}()
	if err := m.seal(ctx, closing); err != nil {
		return err
	}
	for left := m.grace(); left > 0; left -= time.Second {
		if err := m.sleep(ctx, min(left, time.Second)); err != nil {
			return err
		}
		if err := m.alive(ctx); err != nil {
			return err
		}
	}
	if err := m.seal(ctx, last); err != nil {
		return err
	}
	m.State = RebucketLast
	m.Pass++
	if err := m.pass(ctx, true); err != nil {
		return err
	}
	return m.flip(ctx)
}
