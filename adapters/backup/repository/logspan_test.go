package repository_test

import (
	"testing"

	"edgetable/adapters/backup/repository"
	"edgetable/core/edm"
)

// TestSyncedByBackup checks a backup of an idle store. The backup contains every write that returned before the
// time in the field LogSpan.Quiet. So a secondary that starts from the backup knows how old its data is, although
// an idle store ships no log pieces.
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
