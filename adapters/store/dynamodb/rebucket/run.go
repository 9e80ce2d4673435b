package rebucket

import (
	"context"
	"errors"
	"fmt"
	"time"

	"edgetable/core/table"
)

// mover is the state of one run.
type mover struct {
	Env
	Options
	Progress
	key      table.RecordKey
	owner    string
	from, to Spread
	beat     int
	beaten   time.Duration // when the last heartbeat was written
}

func (r *mover) report() error { return r.Report(r.Progress) }

// change changes the record of the table, if the record still belongs to this run.
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

// deleted adds to [table.ErrNoTable] that the table was deleted during the run.
func (r *mover) deleted(err error) error {
	if errors.Is(err, table.ErrNoTable) {
		return fmt.Errorf("the table was deleted: %w", table.ErrNoTable)
	}
	return err
}

// mine returns nil if the record belongs to this run, and otherwise the reason why it does not.
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

// alive writes a heartbeat into the record, at most once per second. It shows other processes that the run that sealed the table still exists.
func (r *mover) alive(ctx context.Context) error {
	if r.Elapsed()-r.beaten < time.Second {
		return nil
	}
	r.beat++
	err := r.change(ctx, func(now *Location) { now.Beat = r.beat })
	r.beaten = r.Elapsed()
	return err
}
