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

// findOut determines the outcome of each write of a group whose reply was lost.
func (s *Store) findOut(group []*write, cause error) {
	ctx, cancel := context.WithTimeoutCause(s.ctx, s.Timeout, errTimeout)
	defer cancel()
	for len(group) > 0 {
		n := 1
		for n < len(group) && group[n].name == group[0].name {
			n++
		}
		s.findOutIn(ctx, group[:n], cause)
		group = group[n:]
	}
}

// findOutIn is findOut for writes of one table.
func (s *Store) findOutIn(ctx context.Context, group []*write, cause error) {
	states, err := s.settledStates(ctx, group, cause)
	for i, w := range group {
		if err != nil {
			s.counters.unknown.Add(1)
			w.done <- written{err: fmt.Errorf("%w: %w", table.ErrUnknown, cause)}
			continue
		}
		ok, err := s.verdict(ctx, w, &states[i], cause)
		if errors.Is(err, table.ErrUnknown) {
			s.counters.unknown.Add(1)
		}
		w.done <- written{ok: ok, err: err}
	}
}

// evidence finds out whether the writes of a batch whose reply was lost were applied: nil means that they were. An
// unsent error means that they were not, and never will be.
func (s *Store) evidence(ctx context.Context, list []*write, cause error) error {
	states, err := s.settledStates(ctx, list, cause)
	if err != nil {
		s.counters.unknown.Add(1)
		return fmt.Errorf("%w: %w", table.ErrUnknown, cause)
	}
	// All writes have the same Timestamp, but others may have overwritten some of the rows since.
	var found error
	for i, w := range list {
		ok, err := s.verdict(ctx, w, &states[i], cause)
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

// verdict decides from the state of an entity what became of a write that can no longer be applied: it was applied,
// it was not, or that cannot be known.
func (s *Store) verdict(ctx context.Context, w *write, now *state, cause error) (ok bool, err error) {
	unknown := fmt.Errorf("%w: %w", table.ErrUnknown, cause)
	switch {
	case !now.live:
		return false, unknown
	case now.ticks == w.ticks:
		return true, nil
	case now.ticks < w.ticks && now.purged < w.ticks: // no row with this Timestamp was purged
		return false, &unsent{cause}
	case now.ticks < w.ticks:
		return false, unknown
	}
	// Somebody has overwritten the row since. This server did so only in a batch: a round sends no write of an entity
	// while the outcome of an earlier one is being looked for.
	purged, last, own := edm.Ticks(0), edm.Ticks(0), edm.Ticks(0)
	mine, seen := w.ticks%slot.Slots, statement.Overwritten
	if now.declared != nil {
		seen = statement.RuledOverwritten
	}
	err = s.retry(ctx, upkeep, func(ctx context.Context, c *pgconn.PgConn) error {
		_, err := statement.Query(ctx, c, seen, func(v [][]byte) error {
			purged, last, own = edm.Ticks(statement.Number(v[0])), edm.Ticks(statement.Number(v[1])), edm.Ticks(statement.Number(v[2]))
			return nil
		}, []byte(w.name), w.key, statement.Int8(int64(mine)))
		return err
	})
	if last%slot.Slots == mine {
		own = last
	}
	switch {
	case err == nil && own == w.ticks:
		return true, nil
	case err != nil || last == 0 || purged >= w.ticks || own > w.ticks || last >= w.ticks+statement.TrailMemory:
		return false, unknown
	}
	return false, &unsent{cause}
}

// settledStates reads the entities of writes of one table that one connection sent, after making sure that no such
// write can still be applied. It raises the floor above their Timestamps and waits for the transaction that may have
// seen the old floor.
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
	if err := s.settled(ctx, s.sender(cause)); err != nil {
		return nil, err
	}
	states, err := s.lookAll(ctx, upkeep, name, keys)
	if err != nil {
		return nil, err
	}
	return states, s.barrier(ctx)
}

// barrier makes durable what was read. A commit whose wait for a standby was interrupted may be visible before the
// standby has it. A later commit waits until the same standby has all earlier ones.
func (s *Store) barrier(ctx context.Context) error {
	return s.retry(ctx, urgent, func(ctx context.Context, c *pgconn.PgConn) error {
		h := s.clock.Holds()
		ok, err := s.beat(ctx, c, h, h.Reserved)
		if halts(err) {
			err = nil // the heartbeat was committed nevertheless
		}
		if err == nil && !ok {
			err = slot.ErrStale // the next heartbeat takes another slot
		}
		return err
	})
}
