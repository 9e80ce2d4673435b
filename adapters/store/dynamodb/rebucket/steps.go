package rebucket

import (
	"context"
	"encoding/binary"
	"time"

	"edgetable/core/table"
)

// Run moves a table to another number of buckets. It reads every entity twice and writes it once, in a transaction.
// Each pass also reads the table and its copy without properties.
//
// If the table is deleted during the run, the error is [table.ErrNoTable].
func Run(ctx context.Context, e Env, key table.RecordKey, o Options) error {
	if o.Report == nil {
		o.Report = func(Progress) error { return nil }
	}
	r := mover{Env: e, Options: o, key: key, owner: e.newOwner()}
	switch {
	case o.Abort:
		return r.abort(ctx)
	case o.Buckets == 0 || o.Buckets > MaxBuckets:
		return ErrBuckets
	}
	if err := r.takeOwnership(ctx); err != nil {
		return err
	}
	if r.State == Unchanged {
		return r.report()
	}
	took, err := r.approach(ctx)
	if err != nil {
		return err
	}
	r.State, r.Pause = Closing, took+r.Grace
	if err := r.report(); err != nil {
		return err
	}
	if r.MaxPause > 0 && r.Pause > r.MaxPause {
		return &PauseError{r.Pause, r.MaxPause}
	}
	if err := r.conclude(ctx); err != nil {
		return err
	}
	r.State = Done
	return r.report()
}

const (
	// maxPasses limits the number of passes before writes are refused.
	maxPasses = 20
	// If a pass finds at most this number of differences, the run then seals the table. A few transactions can copy so
	// many differences.
	few = 100
)

// takeOwnership records this run as the owner of the move. Only the owner may write the copy.
func (r *mover) takeOwnership(ctx context.Context) error {
	fresh := Spread{Buckets: r.Buckets}
	binary.BigEndian.PutUint64(fresh.Incarnation[:8], r.Rand())
	binary.BigEndian.PutUint32(fresh.Incarnation[8:], uint32(r.Rand()))
	return r.Change(ctx, r.key, func(now Location) (Location, error) {
		switch {
		case now.Owner == r.owner: // an earlier attempt recorded this run, but the reply was lost
			return now, nil
		case now.None() && now.Spread.Buckets == r.Buckets:
			r.State = Unchanged
			return now, nil
		case now.None():
			now.Target = fresh
		case now.Target.Buckets != r.Buckets:
			return now, &UnfinishedError{now.Target.Buckets}
		}
		r.from, r.to = now.Spread, now.Target
		now.Move = Move{Target: now.Target, Owner: r.owner}
		return now, nil
	})
}

// approach makes one pass after another, and returns the duration of the last pass. It stops after a pass with few
// changes, or with more than half as many changes as the previous pass.
func (r *mover) approach(ctx context.Context) (took time.Duration, err error) {
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

// conclude seals the table, compares it with the copy for the last time, and replaces it by the copy.
func (r *mover) conclude(ctx context.Context) (err error) {
	defer func() {
		if err != nil { // a failed run must not leave the table sealed
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.Deadline)
			defer cancel()
			// If this change fails, writes are refused until another process has seen no heartbeat of the run for
			// [Silence].
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

func (r *mover) seal(ctx context.Context, to Seal) error {
	r.beat++
	r.beaten = r.Elapsed()
	return r.change(ctx, func(now *Location) { now.Seal, now.Beat = to, r.beat })
}

// flip replaces the table by the copy, and ends the move.
func (r *mover) flip(ctx context.Context) error {
	err := r.Change(ctx, r.key, func(now Location) (Location, error) {
		if now.Spread == r.to {
			return now, nil // the reply to an earlier attempt was lost, or another run has replaced the table
		}
		return Location{Spread: r.to}, r.checkOwner(&now)
	})
	return r.deleted(err)
}

// abort ends an unfinished run and discards the copy.
func (r *mover) abort(ctx context.Context) error {
	r.State = Unchanged
	err := r.Change(ctx, r.key, func(now Location) (Location, error) {
		if !now.None() {
			r.State = Aborted
		}
		return Location{Spread: now.Spread}, nil
	})
	if err != nil {
		return err
	}
	return r.report()
}
