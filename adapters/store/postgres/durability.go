package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/adapters/store/postgres/promise"
	"edgetable/adapters/store/postgres/schema"
	"edgetable/adapters/store/postgres/statement"
)

// ErrLoss means that the settings of the database may lose acknowledged writes.
var ErrLoss = errors.New("acknowledged writes may be lost")

// inspect reads the settings and the process id of a new connection. If the first connection has settings that may lose
// acknowledged writes, it returns an error, unless Options.AllowLoss is set. The store sends no writes over a later
// connection with weaker settings.
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
	c.CustomData()[processKey] = process{uint32(pid), string(v[1]), s.sessions.Begin(string(v[1]))}
	d := promise.Of(v[2:])
	if s.promise == nil {
		if reason := d.Loses(); reason != "" && !s.AllowLoss {
			return nil, fmt.Errorf("%w: %s", ErrLoss, reason)
		}
		s.promise = d
	}
	if reason := s.weaknessOf(d); reason != "" {
		c.CustomData()[weaknessKey] = reason
	}
	s.noteSettings(d)
	return d, nil
}

// weaknessKey is the key of a text in a connection's custom data. The text says why the store sends no writes over the
// connection.
const weaknessKey = "weak"

// noteSettings stores the settings for Durability, and logs them if they have changed.
func (s *Store) noteSettings(d *promise.Settings) {
	if before := s.settings.Swap(d); before == nil || *before != *d {
		s.Logf("durability: %s", d)
	}
}

// watchSettings checks the settings and the schema version that a heartbeat returned. It returns a reason to refuse
// writes if the settings have become weaker or the schema version is not supported, and otherwise "".
func (s *Store) watchSettings(d *promise.Settings, version int64) (reason string) {
	s.noteSettings(d)
	if err := schema.Check(s.Schema, int(version)); err != nil {
		return err.Error()
	}
	return s.weaknessOf(d)
}

// weaknessOf describes a setting with which acknowledged writes are less safe than when the store was opened. It
// returns "" if there is no such setting.
func (s *Store) weaknessOf(d *promise.Settings) string {
	reason := ""
	switch {
	case s.AllowLoss:
	case d.Strength() < s.promise.Strength():
		if reason = d.Loses(); reason == "" && d.Standbys == "" {
			reason = "the database no longer has synchronous_standby_names: a failover loses acknowledged writes"
		} else if reason == "" {
			reason = "the database has synchronous_commit=" + d.Commit + ": a power loss at two machines loses acknowledged writes"
		}
	case d.FullPages == "off" && s.promise.FullPages != "off":
		reason = "the database has full_page_writes=off: a crash may damage pages"
	}
	if reason != "" {
		reason += "; writes are refused until the setting is as it was when this server started"
	}
	return reason
}

// Durability describes which failures an acknowledged write survives under the current settings.
func (s *Store) Durability() string {
	if d := s.settings.Load(); d != nil {
		return d.String()
	}
	return "unknown"
}
