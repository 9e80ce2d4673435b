// Package promise derives, from the settings of a database, which failures an acknowledged write survives.
package promise

import "strings"

// Settings are the PostgreSQL settings on which durability depends, as the database reports them.
type Settings struct {
	Fsync, FullPages, Commit, Standbys string
}

// Of converts the columns of statement.PromisesSQL to Settings.
func Of(v [][]byte) *Settings {
	return &Settings{string(v[0]), string(v[1]), string(v[2]), string(v[3])}
}

// Strength ranks the settings. A higher number means that acknowledged writes survive more failures.
func (s *Settings) Strength() int {
	switch {
	case s.Loses() != "":
		return 0
	case s.Standbys == "":
		return 1
	case s.Commit == "remote_write":
		return 2
	}
	return 3
}

// Waits returns true if a commit waits for a standby.
func (s *Settings) Waits() bool {
	return s.Standbys != "" && s.Commit != "off" && s.Commit != "local"
}

// Loses describes a setting with which a crash or a failover can lose acknowledged writes. It returns "" if there is
// none.
func (s *Settings) Loses() string {
	switch {
	case s.Fsync == "off":
		return "the database has fsync=off: a power loss destroys it"
	case s.Commit == "off":
		return "the database has synchronous_commit=off: a crash loses acknowledged writes"
	case s.Commit == "local" && s.Standbys != "":
		return "the database has synchronous_commit=local: a failover loses acknowledged writes, although there are synchronous standbys"
	}
	return ""
}

// String describes which failures an acknowledged write survives.
func (s *Settings) String() string {
	var list []string
	switch reason := s.Loses(); {
	case reason != "":
		list = append(list, reason)
	case s.Standbys == "":
		list = append(list, "an acknowledged write survives a crash of the database server; a failover may lose the last writes, because synchronous_standby_names is empty")
	case s.Commit == "remote_write":
		list = append(list, "an acknowledged write survives the loss of one machine, but not a power loss at both (synchronous_commit=remote_write)")
	default:
		list = append(list, "an acknowledged write survives the loss of the primary, as long as only synchronous standbys are promoted (synchronous_commit="+s.Commit+")")
	}
	if s.FullPages == "off" {
		list = append(list, "full_page_writes=off is safe only where the file system writes whole pages")
	}
	return strings.Join(list, "; ")
}
