package postgres

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/adapters/store/postgres/promise"
	"edgetable/adapters/store/postgres/slot"
	"edgetable/adapters/store/postgres/statement"
	"edgetable/core/edm"
)

// tenancy is how long a server holds its slot without a heartbeat. A server that has lost its slot may still use the
// Timestamps that it has reserved.
const tenancy = 30 * time.Second

const heartbeat = time.Second

func (s *Store) occupy(ctx context.Context, c *pgconn.PgConn) (h slot.Holding, err error) {
	h.Holder = random()
	rows, err := statement.Query(ctx, c, statement.TakeSlot, func(v [][]byte) error {
		h.Slot, h.Reserved = int16(binary.BigEndian.Uint16(v[0])), edm.Ticks(statement.Number(v[1]))
		return nil
	}, statement.Int8(h.Holder), statement.Int8(tenancy.Microseconds()))
	if err == nil && rows == 0 {
		err = errSlots
	}
	return h, err
}

// reserve stores a reservation of Timestamps. If another server has taken the slot, reserve takes a free slot instead,
// and Holding.Reserved is the highest Timestamp that its previous holder had reserved.
func (s *Store) reserve(ctx context.Context, have slot.Holding, upTo edm.Ticks) (slot.Holding, error) {
	ctx, cancel := context.WithTimeout(ctx, heartbeatTimeout)
	defer cancel()
	err := s.once(ctx, urgent, func(ctx context.Context, c *pgconn.PgConn) error {
		ok, err := s.renewSlot(ctx, c, have, upTo)
		if err != nil {
			return err
		}
		if ok {
			have.Reserved = upTo
			return nil
		}
		have, err = s.occupy(ctx, c)
		return err
	})
	if err != nil {
		return have, fmt.Errorf("%w: %w", slot.ErrStale, err)
	}
	return have, nil
}

// renewSlot renews a slot and reserves Timestamps. The result ok is false if the slot belongs to another server.
//
// If the machine's clock is too far ahead, renewSlot reserves nothing, because a wrong reservation would also affect
// new tables, which begin above all reserved Timestamps. If the clock is too far behind, compareClocks makes the server
// refuse writes.
func (s *Store) renewSlot(ctx context.Context, c *pgconn.PgConn, h slot.Holding, upTo edm.Ticks) (ok bool, err error) {
	var database, machine, version int64 // if machine is 0, the clocks are not compared
	var found *promise.Settings
	var sent time.Time
	if s.Now == nil {
		sent = s.machine()
		machine = sent.UnixMicro()
	}
	rows, err := statement.Query(ctx, c, statement.Beat, func(v [][]byte) error {
		database, version, found = statement.Number(v[0]), statement.Number(v[1]), promise.Of(v[2:])
		return nil
	}, statement.Int2(h.Slot), statement.Int8(h.Holder), statement.Int8(int64(upTo)), statement.Int8(tenancy.Microseconds()), statement.Int8(machine), statement.Int8(maxClockDifference.Microseconds()))
	if err == nil {
		err = warning(c) // no standby has the reservation, so a failover might lose it
	}
	if err != nil || rows != 1 {
		return rows == 1, err
	}
	reason := s.watchSettings(found, version)
	if machine != 0 {
		reason = cmp.Or(reason, s.compareClocks(slot.Difference(time.UnixMicro(database), time.UnixMicro(machine), s.machine().Sub(sent))))
	}
	return true, s.permitWrites(reason)
}

// permitWrites makes the server refuse writes for the given reason, or accept writes if the reason is empty. It returns
// the reason as an error.
func (s *Store) permitWrites(reason string) error {
	weak := func(reason string) bool { return reason != "" && reason != clocksDiffer }
	before := s.clock.Halt(reason)
	if weak(before) && !weak(reason) {
		s.waited.forget()
		s.primary.Reset() // An old connection may be excluded from writes, or may show commits that no standby has.
	}
	switch {
	case reason == "" && before == clocksDiffer:
		s.Logf("the clocks of this machine and the database agree again; writes are accepted")
	case reason == "" && before != "":
		s.Logf("the database has the same durability as at the start again; writes are accepted")
	case reason != before:
		s.Logf("writes are refused: %s", reason)
	}
	if reason != "" {
		return &slot.Halted{Reason: reason}
	}
	return nil
}

const clocksDiffer = "the clocks of this machine and the database differ by more than 10 s: writes are refused until they agree"

// compareClocks returns clocksDiffer if the clocks of the machine and the database differ too much, and otherwise "".
func (s *Store) compareClocks(difference time.Duration) (reason string) {
	s.counters.clock.Store(int64(difference))
	off := difference.Abs() > warnClockDifference
	if s.clockOff.Swap(off) != off && off {
		s.Logf("the clocks of this machine and the database differ by %v; above %v, writes are refused", -difference.Round(time.Millisecond), maxClockDifference)
	}
	if difference.Abs() > maxClockDifference {
		return clocksDiffer
	}
	return ""
}

// sendHeartbeats renews the slot at intervals. It closes the connections if the database may no longer be the primary.
func (s *Store) sendHeartbeats(ctx context.Context) {
	failing, named := false, "" // The variable named is the lock holder that was logged last.
	every(ctx, heartbeat, func(ctx context.Context) {
		err := s.Ready(ctx)
		if ctx.Err() != nil {
			return
		}
		if isHalted(err) {
			err = nil // the database answers but permits no writes; the reason was already logged
		}
		// If a heartbeat waits for a standby or a lock, the database is still the primary, and the connections can
		// serve reads.
		if class := classify(err); err != nil && !errors.Is(err, errSilent) && (class == lost || isUnsent(err)) {
			s.primary.Reset()
		}
		by, locked := errors.AsType[*lockedError](err)
		switch {
		case err != nil && (!failing || locked && by.holder != named):
			s.Logf("the database does not answer: %v", err)
		case err == nil && failing:
			s.Logf("the database answers again")
		}
		if failing = err != nil; locked {
			named = by.holder
		} else if !failing {
			named = ""
		}
	})
}

// checkClock returns an error if the store refuses writes, for example because the clocks of the machine and the
// database differ too much. The caller must then discard the times that it read before the call.
//
// checkClock issues a Timestamp, because this compares the clocks again if the clock was set.
func (s *Store) checkClock(ctx context.Context) error {
	_, err := s.clock.Next(ctx)
	return err
}

var errSilent = errors.New("postgres: no reply to a heartbeat for 5 s: a commit may be waiting for a standby")

type pulse struct {
	done chan struct{}
	err  error // must be read only after done is closed
}

// Ready sends a heartbeat, or waits for the heartbeat in flight. It returns an error if the database accepts no writes.
func (s *Store) Ready(ctx context.Context) error {
	p := s.pulseNow()
	select {
	case <-p.done:
		return p.err
	case <-time.After(heartbeatTimeout):
		return errSilent
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// pulseNow sends a heartbeat, unless one is in flight. The statement has no timeout, because an abandoned heartbeat
// would still wait in the database.
func (s *Store) pulseNow() *pulse {
	s.pulsing.Lock()
	defer s.pulsing.Unlock()
	if s.pulse != nil {
		return s.pulse
	}
	p := &pulse{done: make(chan struct{})}
	s.pulse = p
	s.background.Go(func() {
		p.err = s.sendPulse()
		s.pulsing.Lock()
		s.pulse = nil
		s.pulsing.Unlock()
		close(p.done)
	})
	return p
}

func (s *Store) sendPulse() error {
	ctx, cancel := context.WithTimeout(s.ctx, heartbeatTimeout)
	defer cancel()
	h := s.clock.Holds()
	held := false
	holder, stop := s.watchLock()
	defer stop()
	err := s.once(ctx, urgent, func(_ context.Context, c *pgconn.PgConn) error {
		defer s.watch(c)()
		h = s.clock.Ask(h)
		var err error
		held, err = s.renewSlot(s.ctx, c, h, h.Reserved)
		return err
	})
	if err != nil {
		return nameHolder(err, holder)
	}
	if !held { // another server has taken the slot, so Next takes a free slot
		_, err = s.clock.Next(ctx)
		return err
	}
	s.clock.Renewed(h)
	return nil
}
