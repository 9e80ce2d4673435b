package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/core/edm"
)

// tenancy is for how long a server holds its slot without a heartbeat. It may issue what
// it has reserved for longer.
const tenancy = 30 * time.Second

const (
	heartbeat        = time.Second
	heartbeatTimeout = 5 * time.Second
)

var errSlots = errors.New("64 servers use this database already")

// occupy takes a free slot.
func (s *Store) occupy(ctx context.Context, c *pgconn.PgConn) (h holding, err error) {
	h.holder = random()
	rows, err := query(ctx, c, takeSlot, func(v [][]byte) error {
		h.slot, h.reserved = int16(binary.BigEndian.Uint16(v[0])), edm.Ticks(number(v[1]))
		return nil
	}, int8Of(h.holder), int8Of(tenancy.Microseconds()))
	if err == nil && rows == 0 {
		err = errSlots
	}
	return h, err
}

// reserve stores a reservation. If the slot was given away, it takes another one and
// returns what its last holder reserved.
func (s *Store) reserve(ctx context.Context, have holding, upTo edm.Ticks) (holding, error) {
	ctx, cancel := context.WithTimeout(ctx, heartbeatTimeout)
	defer cancel()
	err := s.once(ctx, urgent, func(ctx context.Context, c *pgconn.PgConn) error {
		ok, err := s.beat(ctx, c, have, upTo)
		if err != nil {
			return err
		}
		if ok {
			have.reserved = upTo
			return nil
		}
		have, err = s.occupy(ctx, c)
		return err
	})
	if err != nil {
		return have, fmt.Errorf("%w: %w", errStale, err)
	}
	return have, nil
}

// beat renews a slot and reserves Timestamps; not ok means that the slot belongs to
// another server. Where the clocks differ too much, nothing is reserved, since new tables
// begin above all that is: the statement and compareClocks judge the same two times.
func (s *Store) beat(ctx context.Context, c *pgconn.PgConn, h holding, upTo edm.Ticks) (ok bool, err error) {
	var database, machine int64 // 0: not compared
	if s.Now == nil {
		machine = s.machine().UnixMicro()
	}
	rows, err := query(ctx, c, beat, func(v [][]byte) error {
		database = number(v[0])
		return nil
	}, int2Of(h.slot), int8Of(h.holder), int8Of(int64(upTo)), int8Of(tenancy.Microseconds()), int8Of(machine), int8Of(maxClockDifference.Microseconds()))
	if err == nil {
		err = warning(c) // it would not hold after a failover
	}
	if err == nil && rows == 1 && machine != 0 {
		err = s.compareClocks(time.Duration(database-machine) * time.Microsecond)
	}
	return rows == 1, err
}

var errClock = errors.New("the clock of this machine and that of the database differ by more than 10 s: nothing is written until they agree")

// compareClocks refuses to issue Timestamps by a clock that is wrong, because all servers
// follow the fastest one.
func (s *Store) compareClocks(difference time.Duration) error {
	s.counters.clock.Store(int64(difference))
	off := difference.Abs() > warnClockDifference
	if s.clockOff.Swap(off) != off && off {
		s.Logf("the clock of this machine differs from that of the database by %v; above %v nothing is written", -difference.Round(time.Millisecond), maxClockDifference)
	}
	if difference.Abs() > maxClockDifference {
		return errClock
	}
	return nil
}

// beating keeps the slot, and drops the connections to a primary that is none any more.
func (s *Store) beating(ctx context.Context) {
	failing := false
	every(ctx, heartbeat, func(ctx context.Context) {
		err := s.Ready(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			s.primary.Reset()
		}
		if failing != (err != nil) {
			if failing = err != nil; failing {
				s.Logf("the database does not answer: %v", err)
			} else {
				s.Logf("the database answers again")
			}
		}
	})
}

// Ready sends a heartbeat: it fails if the database accepts no writes.
func (s *Store) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, heartbeatTimeout)
	defer cancel()
	h := s.clock.holds()
	held := false
	err := s.once(ctx, urgent, func(ctx context.Context, c *pgconn.PgConn) error {
		h.reserved = s.now() + reserveAhead
		var err error
		held, err = s.beat(ctx, c, h, h.reserved)
		return err
	})
	if err != nil {
		return err
	}
	if !held { // the next Timestamp takes another slot
		_, err = s.clock.next(ctx)
		return err
	}
	s.clock.renewed(h)
	return nil
}
