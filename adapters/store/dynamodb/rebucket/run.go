package rebucket

import (
	"context"
	"errors"
	"fmt"
	"time"

	"edgetable/core/table"
)

type mover struct {
	Env
	Options
	Progress
	key      table.RecordKey
	owner    string
	from, to Spread
	beat     int
	beaten   time.Duration
}

func (r *mover) report() error { return r.Report(r.Progress) }

// change lets a function modify the location of the table, if the record still names this run as the owner.
func (r *mover) change(ctx context.Context, change func(now *Location)) error {
	err := r.Change(ctx, r.key, func(now Location) (Location, error) {
		if err := r.checkOwner(&now); err != nil {
			return now, err
		}
		change(&now)
		return now, nil
	})
	return r.deleted(err)
}

func (r *mover) deleted(err error) error {
	if errors.Is(err, table.ErrNoTable) {
		return fmt.Errorf("the table was deleted: %w", table.ErrNoTable)
	}
	return err
}

// checkOwner returns nil if the record names this run as its owner. Otherwise it returns an error with the reason.
func (r *mover) checkOwner(now *Location) error {
	switch {
	case now.Spread == r.to:
		return ErrSuperseded
	case now.Spread != r.from:
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

// alive shows other processes that the run is alive: it writes a heartbeat to the record, at most once per second.
func (r *mover) alive(ctx context.Context) error {
	if r.Elapsed()-r.beaten < time.Second {
		return nil
	}
	r.beat++
	err := r.change(ctx, func(now *Location) { now.Beat = r.beat })
	r.beaten = r.Elapsed()
	return err
}
