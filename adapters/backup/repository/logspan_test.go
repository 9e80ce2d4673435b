package repository_test

import (
	"testing"

	"edgetable/adapters/backup/repository"
	"edgetable/core/edm"
)

// The backup of an idle store has every write that returned before it: a follower that is built from it needs no piece to
// know so, and none comes.
func TestSyncedByBackup(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		span repository.LogSpan
		want edm.Ticks
	}{
		"idle":                   {repository.LogSpan{Low: 5, High: 5, Quiet: 9}, 9},
		"written meanwhile":      {repository.LogSpan{Low: 5, High: 7, Quiet: 9}, 0},
		"the clock was set back": {repository.LogSpan{Low: 5, High: 5, Quiet: 5}, 0},
		"of an earlier version":  {repository.LogSpan{Low: 5, High: 5}, 0},
	} {
		if got := tt.span.Synced(); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}
