package rebucket

import (
	"bytes"
	"context"
)

const (
	maxGroup     = 90      // maximum number of differences per transaction, which may have 100 actions
	maxLastGroup = 49      // maximum in the last pass, in which each difference needs two actions: a condition and a write
	maxGroupSize = 4 << 20 // approximate number of bytes of items per transaction
	reportEvery  = 10_000
)

// pass compares a table with its copy in key order, and updates the copy. The function alive writes a heartbeat; it is
// nil except in the last pass.
func (r *mover) pass(ctx context.Context, alive func(context.Context) error) error {
	r.Rows, r.Copied, r.Deleted = 0, 0, 0
	if err := r.report(); err != nil {
		return err
	}
	from, err := r.read(ctx, r.from)
	if err != nil {
		return err
	}
	defer from.close()
	to, err := r.read(ctx, r.to)
	if err != nil {
		return err
	}
	defer to.close()
	longest := maxGroup
	if alive != nil {
		longest = maxLastGroup
	}
	var group []Difference
	size := 0
	for {
		a, b := from.first(), to.first()
		if a == nil && b == nil {
			break
		}
		order := compare(a, b)
		switch {
		case order < 0:
			group, size = append(group, Difference{Key: a.Key}), size+a.Size
		case order > 0:
			group = append(group, Difference{Key: b.Key, Copy: b})
		case !a.Same(b):
			group, size = append(group, Difference{Key: a.Key, Copy: b}), size+a.Size
		}
		r.Rows++
		if len(group) == longest || size > maxGroupSize {
			if err := r.bring(ctx, group, alive); err != nil {
				return err
			}
			group, size = group[:0], 0
		} else if r.Rows%reportEvery == 0 {
			if err := r.report(); err != nil {
				return err
			}
		}
		if alive != nil {
			if err := alive(ctx); err != nil {
				return err
			}
		}
		if order <= 0 {
			if err := from.advance(ctx); err != nil {
				return err
			}
		}
		if order >= 0 {
			if err := to.advance(ctx); err != nil {
				return err
			}
		}
	}
	if len(group) == 0 {
		return r.report() // a pass without remaining differences must report its end too
	}
	return r.bring(ctx, group, alive)
}

// compare compares two entities by their keys. A nil Head stands for the end of the table, and sorts last.
func compare(a, b *Head) int {
	switch {
	case b == nil:
		return -1
	case a == nil:
		return 1
	}
	return bytes.Compare(a.Key, b.Key)
}

func (r *mover) bring(ctx context.Context, group []Difference, alive func(context.Context) error) error {
	for len(group) > 0 {
		done, err := r.Copy(ctx, r.key, Location{Spread: r.from, Move: Move{Target: r.to, Owner: r.owner}}, group, alive)
		if err != nil {
			// The error of Copy does not say whether another run or an abort has changed the record. The method change
			// returns an error that says so.
			if reason := r.change(ctx, func(*Location) {}); reason != nil && ctx.Err() == nil {
				return reason
			}
			return err
		}
		group = group[done.Taken:]
		r.Copied, r.Deleted = r.Copied+done.Copied, r.Deleted+done.Deleted
		if err := r.report(); err != nil {
			return err
		}
	}
	return nil
}
