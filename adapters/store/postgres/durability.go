package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"edgetable/adapters/store/postgres/slot"
	"edgetable/adapters/store/postgres/statement"
)

// durability are the settings that say what a reply to a write promises.
type durability struct {
	fsync, fullPages, commit, standbys string
}

func durabilityOf(v [][]byte) *durability {
	return &durability{string(v[0]), string(v[1]), string(v[2]), string(v[3])}
}

// ErrLoss means that the settings of the database may lose what was answered.
var ErrLoss = errors.New("writes that were answered may be lost")

// inspect reads the settings that a new connection has, and its process. The
// first connection makes the promise: a loss that its settings permit is an error unless it
// is allowed. A later one that promises less carries no writes.
func (s *Store) inspect(ctx context.Context, c *pgconn.PgConn) (*durability, error) {
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
	d := durabilityOf(v[2:])
	if s.promise == nil {
		if reason := d.loses(); reason != "" && !s.AllowLoss {
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
func (s *Store) noteSettings(d *durability) {
	if before := s.settings.Swap(d); before == nil || *before != *d {
		s.Logf("durability: %s", d)
	}
}

// watchSettings judges what a heartbeat returned of the settings and the schema: nothing is
// written while they are not as they were at the start.
func (s *Store) watchSettings(d *durability, version int64) error {
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
func (s *Store) breaks(d *durability) string {
	reason := ""
	switch {
	case s.AllowLoss:
	case d.strength() < s.promise.strength():
		if reason = d.loses(); reason == "" && d.standbys == "" {
			reason = "the database has no synchronous_standby_names any more: a failover loses writes that were answered"
		} else if reason == "" {
			reason = "the database has synchronous_commit=" + d.commit + ": the loss of power at two machines loses writes that were answered"
		}
	case d.fullPages == "off" && s.promise.fullPages != "off":
		reason = "the database has full_page_writes=off: a crash may damage pages"
	}
	if reason != "" {
		reason += "; nothing is written until the setting is as it was when this server started"
	}
	return reason
}

// strength orders promises.
func (d *durability) strength() int {
	switch {
	case d.loses() != "":
		return 0
	case d.standbys == "":
		return 1
	case d.commit == "remote_write":
		return 2
	}
	return 3
}

// waits reports whether a commit waits for a standby.
func (d *durability) waits() bool {
	return d.standbys != "" && d.commit != "off" && d.commit != "local"
}

// loses names the setting that lets the database lose an acknowledged write in a crash, or
// returns "".
func (d *durability) loses() string {
	switch {
	case d.fsync == "off":
		return "the database has fsync=off: the loss of power destroys it"
	case d.commit == "off":
		return "the database has synchronous_commit=off: a crash loses writes that were answered"
	case d.commit == "local" && d.standbys != "":
		return "the database has synchronous_commit=local: a failover loses writes that were answered, although there are synchronous standbys"
	}
	return ""
}

// String says what a reply promises.
func (d *durability) String() string {
	var list []string
	switch reason := d.loses(); {
	case reason != "":
		list = append(list, reason)
	case d.standbys == "":
		list = append(list, "a reply survives a crash of the database server; a failover may lose the last writes, because synchronous_standby_names is empty")
	case d.commit == "remote_write":
		list = append(list, "a reply survives the loss of one machine, not the loss of power at both (synchronous_commit=remote_write)")
	default:
		list = append(list, "a reply survives the loss of the primary, as long as only synchronous standbys are promoted (synchronous_commit="+d.commit+")")
	}
	if d.fullPages == "off" {
		list = append(list, "full_page_writes=off is safe only where the file system writes whole pages")
	}
	return strings.Join(list, "; ")
}

// Durability says in a sentence what a reply to a write promises, by the settings that were
// found last.
func (s *Store) Durability() string {
	if d := s.settings.Load(); d != nil {
		return d.String()
	}
	return "unknown"
}
