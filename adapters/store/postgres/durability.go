package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/adapters/store/postgres/promise"
	"edgetable/adapters/store/postgres/slot"
	"edgetable/adapters/store/postgres/statement"
)

// ErrLoss means that the settings of the database may lose what was answered.
var ErrLoss = errors.New("writes that were answered may be lost")

// inspect reads the settings that a new connection has, and its process. The
// first connection makes the promise: a loss that its settings permit is an error unless it
// is allowed. A later one that promises less carries no writes.
func (s *Store) inspect(ctx context.Context, c *pgconn.PgConn) (*promise.Settings, error) {
	results, err := c.Exec(ctx, `SELECT pid, `+statement.ProcessSQL+`, `+statement.PromisesSQL+` FROM pg_stat_activity WHERE pid = pg_backend_pid()`).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(results) != 1 || len(results[0].Rows) != 1 || len(results[0].Rows[0]) != 6 {
		return nil, errors.New("postgres: no settings were returned")
	}
	v := results[0].Rows[0]
	pid, err := strconv.ParseUint(string(v[0]), 10, 32)
	if err != nil {
		return nil, err
	}
	c.CustomData()[served] = process{uint32(pid), string(v[1]), s.sessions.Begin(string(v[1]))}
	d := promise.Of(v[2:])
	if s.promise == nil {
		if reason := d.Loses(); reason != "" && !s.AllowLoss {
			return nil, fmt.Errorf("%w: %s", ErrLoss, reason)
		}
		s.promise = d
	}
	if reason := s.breaks(d); reason != "" {
		c.CustomData()[weak] = reason
	}
	s.noteSettings(d)
	return d, nil
}

// weak is the name under which a connection keeps why it carries no writes.
const weak = "weak"

// noteSettings notes what holds now, which an operator reads in Durability and the log.
func (s *Store) noteSettings(d *promise.Settings) {
	if before := s.settings.Swap(d); before == nil || *before != *d {
		s.Logf("durability: %s", d)
	}
}

// watchSettings judges what a heartbeat returned of the settings and the schema: nothing is
// written while they are not as they were at the start.
func (s *Store) watchSettings(d *promise.Settings, version int64) error {
	s.noteSettings(d)
	reason := s.breaks(d)
	if version != Version {
		reason = wrongVersion(s.Schema, int(version)).Error()
	}
	before := s.clock.Halt(reason)
	switch {
	case before == reason:
	case reason != "":
		s.Logf("nothing is written any more: %s", reason)
	default:
		s.Logf("the database promises again what it did at the start")
		s.passed.forget()
		s.primary.Reset() // some connections carry no writes, and some may show what a standby lacks
	}
	if reason != "" {
		return &slot.Halted{Reason: reason}
	}
	return nil
}

// breaks says by which setting the database promises less than at the start of this server;
// "" is by none.
func (s *Store) breaks(d *promise.Settings) string {
	reason := ""
	switch {
	case s.AllowLoss:
	case d.Strength() < s.promise.Strength():
		if reason = d.Loses(); reason == "" && d.Standbys == "" {
			reason = "the database has no synchronous_standby_names any more: a failover loses writes that were answered"
		} else if reason == "" {
			reason = "the database has synchronous_commit=" + d.Commit + ": the loss of power at two machines loses writes that were answered"
		}
	case d.FullPages == "off" && s.promise.FullPages != "off":
		reason = "the database has full_page_writes=off: a crash may damage pages"
	}
	if reason != "" {
		reason += "; nothing is written until the setting is as it was when this server started"
	}
	return reason
}

// Durability says in a sentence what a reply to a write promises, by the settings that were
// found last.
func (s *Store) Durability() string {
	if d := s.settings.Load(); d != nil {
		return d.String()
	}
	return "unknown"
}
