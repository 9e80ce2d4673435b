package rebucket

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"edgetable/core/table"
)

// run is one run.
type run struct {
	Env
	Options
	Progress
	key      table.RecordKey
	owner    string
	from, to Place
	beat     int
	beaten   time.Duration // when the last beat was written
}

const (
	// maxPasses limits the number of passes before the seal.
	maxPasses = 20
	// few differences take a few transactions.
	few = 100
)

func (r *run) report() error { return r.Report(r.Progress) }

// change changes the record as the owner of the move.
func (r *run) change(ctx context.Context, change func(now *Location)) error {
	err := r.Change(ctx, r.key, func(now Location) (Location, error) {
		if err := r.mine(&now); err != nil {
			return now, err
		}
		change(&now)
		return now, nil
	})
	return r.deleted(err)
}

// deleted explains the absence of a table that was there before.
func (r *run) deleted(err error) error {
	if errors.Is(err, table.ErrNoTable) {
		return fmt.Errorf("the table was deleted: %w", table.ErrNoTable)
	}
	return err
}

// mine is the reason why the record is not that of the run; nil if it is.
func (r *run) mine(now *Location) error {
	switch {
	case now.Place == r.to:
		return ErrSuperseded
	case now.Place != r.from:
		return table.ErrNoTable
	case now.Target != r.to:
		return ErrAborted
	case now.Owner == "":
		return ErrSilent
	case now.Owner != r.owner:
		return ErrSuperseded
	}
	return nil
}

// claim makes the run the owner of the move.
func (r *run) claim(ctx context.Context) error {
	fresh := Place{Buckets: r.Buckets}
	binary.BigEndian.PutUint64(fresh.Incarnation[:8], r.Rand())
	binary.BigEndian.PutUint32(fresh.Incarnation[8:], uint32(r.Rand()))
	return r.Change(ctx, r.key, func(now Location) (Location, error) {
		switch {
		case now.Owner == r.owner: // claimed before, and the reply was lost
			return now, nil
		case now.None() && now.Place.Buckets == r.Buckets:
			r.State = Unchanged
			return now, nil
		case now.None():
			now.Target = fresh
		case now.Target.Buckets != r.Buckets:
			return now, &UnfinishedError{now.Target.Buckets}
		}
		r.from, r.to = now.Place, now.Target
		now.Move = Move{Target: now.Target, Owner: r.owner}
		return now, nil
	})
}

// approach compares and copies until another pass would not make the last one
// shorter: few entities differed, or more than half as many as in the pass before.
// It returns the time of the last pass.
func (r *run) approach(ctx context.Context) (took time.Duration, err error) {
	for earlier := 0; ; {
		began := r.Elapsed()
		r.Pass++
		if err := r.pass(ctx, nil); err != nil {
			return 0, err
		}
		took = r.Elapsed() - began
		changes := r.Copied + r.Deleted
		if changes <= few || r.Pass > 1 && changes > earlier/2 || r.Pass == maxPasses {
			return took, nil
		}
		earlier = changes
	}
}

// conclude seals the table, compares for the last time and moves it.
func (r *run) conclude(ctx context.Context) (err error) {
	defer func() {
		if err != nil { // writes must not wait for a run that is over
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.Deadline)
			defer cancel()
			// If this fails, those whose writes are refused lift the seal.
			_ = r.change(ctx, func(now *Location) { now.Move = now.Released() })
		}
	}()
	if err := r.seal(ctx, Sealing); err != nil {
		return err
	}
	for left := r.Grace; left > 0; left -= time.Second {
		if err := r.Sleep(ctx, min(left, time.Second)); err != nil {
			return err
		}
		if err := r.alive(ctx); err != nil {
			return err
		}
	}
	if err := r.seal(ctx, Sealed); err != nil {
		return err
	}
	r.State = Last
	r.Pass++
	if err := r.pass(ctx, r.alive); err != nil {
		return err
	}
	return r.flip(ctx)
}

// seal raises the seal by one.
func (r *run) seal(ctx context.Context, to Seal) error {
	r.beat++
	r.beaten = r.Elapsed()
	return r.change(ctx, func(now *Location) { now.Seal, now.Beat = to, r.beat })
}

// alive shows once per second that the run which sealed the table lives.
func (r *run) alive(ctx context.Context) error {
	if r.Elapsed()-r.beaten < time.Second {
		return nil
	}
	r.beat++
	err := r.change(ctx, func(now *Location) { now.Beat = r.beat })
	r.beaten = r.Elapsed()
	return err
}

// flip makes the copy the table.
func (r *run) flip(ctx context.Context) error {
	err := r.Change(ctx, r.key, func(now Location) (Location, error) {
		if now.Place == r.to {
			return now, nil // the reply was lost, or another run did the same
		}
		return Location{Place: r.to}, r.mine(&now)
	})
	return r.deleted(err)
}

// abort gives up the copy of an unfinished run.
func (r *run) abort(ctx context.Context) error {
	r.State = Unchanged
	err := r.Change(ctx, r.key, func(now Location) (Location, error) {
		if !now.None() {
			r.State = Aborted
		}
		return Location{Place: now.Place}, nil
	})
	if err != nil {
		return err
	}
	return r.report()
}
