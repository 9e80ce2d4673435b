package postgres

import (
	"testing"
	"time"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// TestReplicaLags checks the status of a replica. A replica that answers, but whose last
// heartbeat is older than a minute, must be unavailable.
func TestReplicaLags(t *testing.T) {
	t.Parallel()
	begin := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	r := new(replica)
	for _, tt := range []struct {
		name       string
		shown, now time.Duration // times since the start of the test: the newest heartbeat in the replica (0 if there is none), and the check
		status     table.ReplicationStatus
		silent     time.Duration // time since the last answer of the replica
		synced     time.Duration
	}{
		{"empty", 0, 1 * time.Second, table.Bootstrap, 0, 0},
		{"follows", 9 * time.Second, 10 * time.Second, table.Live, 0, 9 * time.Second},
		{"stands still", 9 * time.Second, 68 * time.Second, table.Live, 0, 9 * time.Second},
		{"stands still for long", 9 * time.Second, 70 * time.Second, table.Unavailable, 0, 9 * time.Second},
		{"goes on", 65 * time.Second, 71 * time.Second, table.Live, 0, 65 * time.Second},
		{"is silent", 71 * time.Second, 72 * time.Second, table.Unavailable, 16 * time.Second, 71 * time.Second},
	} {
		var shown, synced edm.Ticks
		if tt.shown > 0 {
			shown = edm.TicksOf(begin.Add(tt.shown))
		}
		if tt.synced > 0 {
			synced = edm.TicksOf(begin.Add(tt.synced))
		}
		r.recordHeartbeat(shown, begin.Add(tt.now))
		if got := r.replication(begin.Add(tt.now + tt.silent)); got.Status != tt.status || got.LastSync != synced {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}
