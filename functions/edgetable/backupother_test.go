package main

import (
	"path/filepath"
	"testing"
	"time"
)

// TestScheduleInPlaceOfAnotherStore checks that a server does not count the backups of another
// store as its own backups. Otherwise the server would make no backups, and the metrics would
// report success.
func TestScheduleInPlaceOfAnotherStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	place, other := filepath.Join(dir, "place"), filepath.Join(dir, "other")
	a := start(t, nil, "--data", other)
	succeed(t, "backup", "create", place, "--data", other)
	a.ends(t)
	s := start(t, nil, "--data", filepath.Join(dir, "data"), "--metrics-listen", "127.0.0.1:0", "--backup-to", place)
	s.logs.Await(t, "backups of another store")
	m := s.scrape(t, "")
	if at := sumOf(t, m, "backup_last_success_timestamp_seconds"); at != 0 || sumOf(t, m, "backup_failures_total") == 0 {
		t.Errorf("the last backup was at %v, says the metric", time.Unix(int64(at), 0))
	}
}
