package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// durability are the settings that say what a reply to a write promises.
type durability struct {
	fsync, fullPages, commit, standbys string
}

// inspectSQL is readable for every role.
const inspectSQL = `SELECT current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'), current_setting('synchronous_standby_names'), pg_backend_pid()`

// ErrLoss means that the settings of the database may lose what was answered.
var ErrLoss = errors.New("writes that were answered may be lost")

// inspect reads the settings of the server that a new connection leads to. The loss that
// they permit is an error unless it is allowed.
func (s *Store) inspect(ctx context.Context, c *pgconn.PgConn) error {
	results, err := c.Exec(ctx, inspectSQL).ReadAll()
	if err != nil {
		return err
	}
	if len(results) != 1 || len(results[0].Rows) != 1 || len(results[0].Rows[0]) != 5 {
		return errors.New("postgres: no settings were returned")
	}
	v := results[0].Rows[0]
	pid, err := strconv.ParseUint(string(v[4]), 10, 32)
	if err != nil {
		return err
	}
	c.CustomData()[process] = uint32(pid)
	d := &durability{string(v[0]), string(v[1]), string(v[2]), string(v[3])}
	if reason := d.loses(); reason != "" && !s.AllowLoss {
		return fmt.Errorf("%w: %s", ErrLoss, reason)
	}
	if before := s.promise.Swap(d); before == nil || *before != *d {
		s.Logf("durability: %s", d)
	}
	return nil
}

// loses says by which setting a reply may be lost with the process or the machine of the
// database; "" is by none.
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

// Durability says in a sentence what a reply to a write promises, by the settings that the
// last new connection found.
func (s *Store) Durability() string {
	if d := s.promise.Load(); d != nil {
		return d.String()
	}
	return "unknown"
}
