package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/adapters/store/postgres/slot"
	"edgetable/adapters/store/postgres/statement"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// resolveOutcomes is called if the reply to a round was lost. It finds out which of the writes were applied. The writes
// must be sorted by table.
func (s *Store) resolveOutcomes(group []*write, cause error) {
	ctx, cancel := context.WithTimeoutCause(s.ctx, s.Timeout, errTimeout)
	defer cancel()
	for len(group) > 0 {
		n := 1
		for n < len(group) && group[n].name == group[0].name {
			n++
		}
		s.resolveTableOutcomes(ctx, group[:n], cause)
		group = group[n:]
	}
}

func (s *Store) resolveTableOutcomes(ctx context.Context, group []*write, cause error) {
	states, err := s.settledStates(ctx, group, cause)
	for i, w := range group {
		if err != nil {
			s.counters.unknown.Add(1)
			w.done <- written{err: fmt.Errorf("%w: %w", table.ErrUnknown, cause)}
			continue
		}
		ok, err := s.resolveWrite(ctx, w, &states[i], cause)
		if errors.Is(err, table.ErrUnknown) {
			s.counters.unknown.Add(1)
		}
		w.done <- written{ok: ok, err: err}
	}
}

// resolveBatch is called if the reply to a batch was lost. The error is nil if the batch was applied, an *unsentError
// if it was not, and ErrUnknown if this cannot be known.
func (s *Store) resolveBatch(ctx context.Context, list []*write, cause error) error {
	states, err := s.settledStates(ctx, list, cause)
	if err != nil {
		s.counters.unknown.Add(1)
		return fmt.Errorf("%w: %w", table.ErrUnknown, cause)
	}
	// One applied write proves that the whole batch was applied. The rows of the other writes were overwritten later.
	var found error
	for i, w := range list {
		ok, err := s.resolveWrite(ctx, w, &states[i], cause)
		if ok {
			return nil
		}
		if found == nil || errors.Is(err, table.ErrUnknown) {
			found = err
		}
	}
	if errors.Is(found, table.ErrUnknown) {
		s.counters.unknown.Add(1)
	}
	return found
}

// resolveWrite decides from the state of an entity whether a write was applied. The database must no longer be able to
// apply the write. The error is an *unsentError if the write was not applied, and ErrUnknown if the state does not show
// it.
func (s *Store) resolveWrite(ctx context.Context, w *write, now *state, cause error) (ok bool, err error) {
	unknown := fmt.Errorf("%w: %w", table.ErrUnknown, cause)
	switch {
	case !now.live:
		return false, unknown
	case now.ticks == w.ticks:
		return true, nil
	case now.ticks < w.ticks && now.purged < w.ticks: // an applied write would have left a row, and Purge has removed no tombstone with this or a later Timestamp
		return false, &unsentError{cause}
	case now.ticks < w.ticks:
		return false, unknown
	}
	// Another write has overwritten the row. The row and its trail show only the last Timestamp of each server, so the
	// outcome stays unknown if this server has written the row again.
	purged, last, own := edm.Ticks(0), edm.Ticks(0), edm.Ticks(0)
	mine, seen := w.ticks%slot.Slots, statement.Overwritten
	if now.declared != nil {
		seen = statement.RuledOverwritten
	}
	rows, err := s.query(ctx, seen, []byte(w.name), w.key, statement.Int8(int64(mine)))
	for _, v := range rows {
		purged, last, own = edm.Ticks(statement.Number(v[0])), edm.Ticks(statement.Number(v[1])), edm.Ticks(statement.Number(v[2]))
	}
	if last%slot.Slots == mine {
		own = last
	}
	switch {
	case err == nil && own == w.ticks:
		return true, nil
	case err != nil || last == 0 || purged >= w.ticks || own > w.ticks || last >= w.ticks+statement.TrailMemory:
		return false, unknown
	}
	return false, &unsentError{cause}
}

// settledStates reads the entities of the given writes when the database can no longer apply these writes. It raises
// the floor of the table above their Timestamps, and waits until the transaction that may have read the old floor has
// ended.
//
// All writes belong to one table and were sent over one connection.
func (s *Store) settledStates(ctx context.Context, list []*write, cause error) ([]state, error) {
	var highest edm.Ticks
	keys := make([][]byte, len(list))
	for i, w := range list {
		highest, keys[i] = max(highest, w.ticks), w.key
	}
	name := list[0].name
	if err := s.execute(ctx, statement.RaiseFloor, []byte(name), statement.Int8(int64(highest))); err != nil {
		return nil, err
	}
	if err := s.awaitWriters(ctx, s.senderOf(cause)); err != nil {
		return nil, err
	}
	states, err := s.readStatesOf(ctx, upkeep, name, keys)
	if err != nil {
		return nil, err
	}
	return states, s.awaitStandby(ctx)
}

// awaitStandby returns when a standby has every commit that the store has just read. PostgreSQL may show a commit that
// no standby has. awaitStandby makes another commit, which waits for all earlier commits.
func (s *Store) awaitStandby(ctx context.Context) error {
	return s.retry(ctx, urgent, func(ctx context.Context, c *pgconn.PgConn) error {
		h := s.clock.Holds()
		ok, err := s.renewSlot(ctx, c, h, h.Reserved)
		if isHalted(err) {
			err = nil // the heartbeat was committed, which is enough here
		}
		if err == nil && !ok {
			err = slot.ErrStale // another server has this slot; the next heartbeat takes another slot
		}
		return err
	})
}
