package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"edgetable/adapters/store/postgres/feed"
	"edgetable/adapters/store/postgres/lend"
	"edgetable/adapters/store/postgres/slot"
	"edgetable/adapters/store/postgres/statement"
	"edgetable/core/edm"
)

// Open connects to the database and takes one of the 64 slots for servers. The schema must exist.
func Open(ctx context.Context, o Options) (*Store, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Store{Options: o, now: o.Now}
	if s.now == nil {
		s.now = func() edm.Ticks { return edm.TicksOf(o.machine()) }
	}
	s.connections = lend.ForPrimary(o.Connections)
	s.gate = make(chan struct{}, catchingUp)
	s.clock = slot.New(s.now, s.reserve)
	if o.Now == nil { // the store uses the machine's clock, and compares it with the database's clock
		s.clock.Back = edm.Ticks(maxClockDifference.Nanoseconds() / 100)
		begun := time.Now()
		s.clock.Steady = func() edm.Ticks { return edm.Ticks(time.Since(begun).Nanoseconds() / 100) } // this clock is monotonic
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.feeds = feed.New(feed.Base{
		Read: func(ctx context.Context, account string, do func(context.Context, *pgconn.PgConn) error) error {
			return s.read(ctx, lend.Client{Use: lend.Pages, Account: account}, do)
		},
		Execute: s.execute,
		Settle:  func(ctx context.Context) error { return s.awaitWriters(ctx, servers) },
		Instant: s.clock.Instant, Go: s.background.Go, Every: newsEvery,
	})
	if err := s.connect(ctx); err != nil {
		s.Close()
		return nil, err
	}
	s.background.Go(func() { s.sendHeartbeats(s.ctx) })
	s.background.Go(func() { every(s.ctx, oldestEvery, s.watchOldest) })
	if s.replica != nil {
		s.background.Go(func() { every(s.ctx, heartbeat, s.watchReplica) })
	}
	if o.PurgeEvery > 0 {
		s.background.Go(func() { s.purging(s.ctx) })
	}
	return s, nil
}

func (s *Store) connect(ctx context.Context) error {
	c := &connector{Options: s.Options}
	config, err := c.config(s.DSN)
	if err != nil {
		return err
	}
	s.name = c.name
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		d, err := s.inspect(ctx, conn.PgConn())
		if err == nil {
			err = c.prepareSession(ctx, conn.PgConn())
		}
		if err == nil && d.Waits() && !s.noBarrier {
			err = s.catchUp(ctx, conn.PgConn())
		}
		return err
	}
	s.config = config
	if err := s.compatible(ctx, config); err != nil {
		return notPrimary(err)
	}
	if s.primary, err = pgxpool.NewWithConfig(s.ctx, config); err != nil {
		return err
	}
	if s.ReplicaDSN != "" {
		if err := s.openReplica(c); err != nil {
			return fmt.Errorf("replica: %w", err)
		}
	}
	return notPrimary(s.moveIn(ctx))
}

func notPrimary(err error) error {
	if err != nil && classify(err) == moved {
		return fmt.Errorf("this is a standby, or accepts no writes: name the primary, or all hosts and target_session_attrs=read-write: %w", err)
	}
	return err
}

// moveIn takes one of the 64 slots for servers and reserves the first Timestamps.
func (s *Store) moveIn(ctx context.Context) error {
	return s.once(ctx, urgent, func(ctx context.Context, conn *pgconn.PgConn) error {
		h, err := s.occupy(ctx, conn)
		if err != nil {
			return err
		}
		before := h.Reserved
		h = s.clock.Ask(h)
		ok, err := s.renewSlot(ctx, conn, h, h.Reserved)
		if ok {
			s.clock.Hold(h, before) // if the clocks differ too much, renewSlot has renewed the slot and also returns an error; Close then releases the slot
		} else if err == nil {
			err = slot.ErrStale
		}
		return err
	})
}

// Close releases the slot and closes all connections. No operation must be running.
func (s *Store) Close() error {
	s.stop()
	s.background.Wait()
	if s.primary == nil {
		return nil
	}
	if h := s.clock.Holds(); h.Holder != 0 {
		ctx, cancel := context.WithTimeout(context.Background(), heartbeatTimeout)
		defer cancel()
		_ = s.once(ctx, urgent, func(ctx context.Context, c *pgconn.PgConn) error { // if this statement fails, the slot expires later
			_, err := statement.Query(ctx, c, statement.LeaveSlot, nil, statement.Int2(h.Slot), statement.Int8(h.Holder))
			return err
		})
	}
	s.primary.Close()
	if s.replica != nil {
		s.replica.pool.Close()
	}
	return nil
}
