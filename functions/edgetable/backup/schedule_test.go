package backup

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/objects/directory"
	"edgetable/adapters/replicate/ship"
	"edgetable/adapters/store/pebblestore"
	"edgetable/testdata/must"
)

// TestBackupFails runs a schedule for a month with a backup location that cannot be used. The
// first retry must follow after a minute. Then the delay must grow to one hour.
func TestBackupFails(t *testing.T) {
	t.Parallel()
	place := filepath.Join(t.TempDir(), "place")
	if err := os.WriteFile(place, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		b := &Schedule{
			Flags: &Flags{To: place, Every: time.Hour}, log: slog.New(slog.NewTextHandler(io.Discard, nil)),
			run: &run{place: directory.Place{Dir: place}},
		}
		ctx, stop := context.WithCancel(t.Context())
		start := time.Now()
		go b.Serve(ctx)
		for _, tt := range []struct {
			after time.Duration
			want  int64
		}{
			{0, 1}, {time.Minute, 2}, {3 * time.Minute, 3}, {63 * time.Minute, 7},
			{63*time.Minute + 30*24*time.Hour, 7 + 30*24},
		} {
			time.Sleep(tt.after - time.Since(start))
			synctest.Wait()
			if got := b.Status().Failures; got != tt.want {
				t.Errorf("%d failures after %v, want %d", got, tt.after, tt.want)
			}
		}
		stop()
		synctest.Wait()
	})
}

// TestNoBackupBeforeLog checks that a schedule waits until its shipper allows backups. After a start, the shipped log does
// not yet cover the commit numbers that were issued before.
func TestNoBackupBeforeLog(t *testing.T) {
	t.Parallel()
	store, err := pebblestore.Open(pebblestore.Options{Dir: t.TempDir()})
	must.OK(t, err)
	defer store.Close()
	place := directory.Place{Dir: t.TempDir()}
	b := &Schedule{
		Flags: &Flags{Every: time.Hour}, run: &run{place: place},
		shipper: ship.New(ship.Options{Place: repository.New(place), Store: store, Primary: new(ship.PrimaryStatus)}),
	}
	if wait, err := b.backUpIfDue(t.Context()); wait != time.Hour || err != nil {
		t.Errorf("a backup before the log waits %v, %v", wait, err)
	}
}
