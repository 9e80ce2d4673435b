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

// findOut determines the outcome of each write of a round whose reply was lost. The writes are sorted by table.
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

// findOutIn determines the outcome of each write to one table, after the reply was lost.
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

// evidence finds out whether a batch whose reply was lost was applied. It returns nil if it was, and an unsent error
// if it was not and never will be.
func (s *Store) resolveBatch(ctx context.Context, list []*write, cause error) error {
	states, err := s.settledStates(ctx, list, cause)
	if err != nil {
		s.counters.unknown.Add(1)
		return fmt.Errorf("%w: %w", table.ErrUnknown, cause)
	}
	// The batch was applied if any row shows this. Some rows may show nothing, because they were overwritten since.
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

// verdict decides from the state of an entity whether a write that cannot be applied any more was applied. It
// returns an unsent error if the write was not applied, and ErrUnknown if the state does not show this.
func (s *Store) resolveWrite(ctx context.Context, w *write, now *state, cause error) (ok bool, err error) {
	unknown := fmt.Errorf("%w: %w", table.ErrUnknown, cause)
	switch {
	case !now.live:
		return false, unknown
	case now.ticks == w.ticks:
		return true, nil
	case now.ticks < w.ticks && now.purged < w.ticks: // no tombstone with this Timestamp can have been removed
		return false, &unsentError{cause}
	case now.ticks < w.ticks:
		return false, unknown
	}
	// The row was overwritten since. If this server did so, it was in a batch: a round sends no further write of an
	// entity until the outcome of the previous one is known.
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
	return false, &unsentError{cause}
}

// settledStates makes sure that some writes to one table, all sent over one connection, cannot be applied any more,
// and reads their entities. It raises the floor of the incarnation above the Timestamps of the writes, and waits
// until the transaction that may have read the old floor has ended.
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
	if err := s.awaitWriters(ctx, s.sender(cause)); err != nil {
		return nil, err
	}
	states, err := s.lookAll(ctx, upkeep, name, keys)
	if err != nil {
		return nil, err
	}
	return states, s.awaitStandby(ctx)
}

// barrier returns when a standby has everything that was read. If the wait of a commit for its standby was interrupted, the
// commit may be visible before a standby has it. barrier makes a later commit, which waits for all earlier ones.
func (s *Store) awaitStandby(ctx context.Context) error {
	return s.retry(ctx, urgent, func(ctx context.Context, c *pgconn.PgConn) error {
		h := s.clock.Holds()
		ok, err := s.renewSlot(ctx, c, h, h.Reserved)
		if isHalted(err) {
			err = nil // the heartbeat was committed, which is enough
		}
		if err == nil && !ok {
			err = slot.ErrStale // another server has this slot; the next heartbeat takes another one
		}
		return err
	})
}
