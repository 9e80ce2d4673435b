package follow

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/objects/directory"
	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// backUp stores a backup with all commits up to a number.
func (l *line) backUp(high edm.Ticks) *repository.Manifest { return l.backUpQuiet(high, 0) }

// backUpQuiet stores a backup with all commits up to a number. The second argument is a time. The backup records that
// there were no writes up to this time.
func (l *line) backUpQuiet(high, quiet edm.Ticks) *repository.Manifest {
	l.Helper()
	m, err := l.from.Place.Create(l.Context(), repository.Source{
		Store: l.identity,
		Snapshot: func(context.Context) (string, *repository.LogSpan, error) {
			dir := l.TempDir()
			return dir, &repository.LogSpan{Timeline: l.id, Low: high, High: high, Quiet: quiet}, os.WriteFile(filepath.Join(dir, "000001.sst"), []byte("x"), 0o600)
		},
		Check: func(string) error { return nil }, Begin: func(string) error { return nil }, Progress: func(int64, int64) {}, Now: time.Now,
	})
	must.OK(l, err)
	return m
}

// lags checks a secondary that lacks commits. The secondary must not report that it is live or ready, and a
// promotion must fail.
func (l *line) lags(after string) {
	l.Helper()
	for range 3 {
		_ = l.applyShipped(l.Context())
		if r := l.Replication(); r.Status == table.Live || l.Ready() == nil {
			l.Errorf("%s: it is %v, and ready: %v", after, r, l.Ready())
		}
	}
	if p, err := l.Promote(l.Context(), false, 0); err == nil {
		l.Errorf("%s: it was promoted with what there is up to %v", after, p.Number)
	}
}

// TestLacksPruned checks a secondary that needs a part of the log, but a prune has already removed this part. The
// secondary must report that it lacks commits. It learns of the missing commits from a newer backup. If this backup is
// damaged, it learns of the missing commits from a record that the prune has written.
func TestLacksPruned(t *testing.T) {
	t.Parallel()
	for _, damaged := range []bool{false, true} {
		l := newLine(t, directory.Place{Dir: t.TempDir()})
		l.ship()
		newest := l.backUp(l.to)
		_, err := l.from.Place.Prune(t.Context(), repository.Pruning{Retention: repository.Retention{Last: 1}, Now: time.Now()})
		must.OK(t, err)
		list, err := l.from.Place.Pieces(t.Context(), "")
		if must.OK(t, err); len(list) > 0 {
			t.Fatalf("the prune has left %v", list)
		}
		if damaged { // if the backup is not readable, only the record of the prune says which commits are missing
			must.OK(t, os.WriteFile(filepath.Join(l.place.(directory.Place).Dir, "backups", newest.ID), []byte("x"), 0o600))
		}
		l.lags("a prune")
	}
}

// TestLacksBackup checks that a secondary reports missing commits if a backup has commits that the log does not have.
func TestLacksBackup(t *testing.T) {
	t.Parallel()
	l := newLine(t, directory.Place{Dir: t.TempDir()})
	l.ship()
	must.OK(t, l.applyShipped(t.Context()))
	must.OK(t, l.Ready())
	l.backUp(l.to) // a backup with exactly the commits of the secondary
	for range 2 * lookAtAll {
		must.OK(t, l.applyShipped(t.Context()))
	}
	if r := l.Replication(); r.Status != table.Live {
		t.Errorf("%v", r)
	}
	l.backUp(l.to + 5)
	for range lookAtAll {
		_ = l.applyShipped(t.Context())
	}
	if err := l.applyShipped(t.Context()); err == nil {
		t.Error("it does not notice that a backup has more")
	}
	if _, err := l.Promote(t.Context(), false, 0); err == nil {
		t.Error("it was promoted without what the backup has")
	}
}

// TestPlaceAwayAtStart checks a secondary that starts while the backup location is unreachable. It must report the
// LastSyncTime that its store has recorded.
func TestPlaceAwayAtStart(t *testing.T) {
	t.Parallel()
	l := newLine(t, directory.Place{Dir: t.TempDir()})
	l.ship()
	must.OK(t, l.applyShipped(t.Context()))
	at, _, err := l.store.Position()
	must.OK(t, err)
	away := Source{Place: repository.New(directory.Place{Dir: filepath.Join(t.TempDir(), "away")})}
	f := Open(Options{Dir: l.o.Dir, Log: l.o.Log, MaxLag: time.Minute}, away, l.store, at)
	_ = f.applyShipped(t.Context())
	if r := f.Replication(); r.Status != table.Unavailable || r.LastSync != l.to-5 || f.Ready() == nil {
		t.Errorf("%v, ready: %v", r, f.Ready())
	}
}

// TestIdlePrimary checks that LastSyncTime advances while the primary writes nothing. A new backup records a time up
// to which there were no writes. LastSyncTime must advance to this time. A backup with commits that the secondary
// lacks must not advance LastSyncTime. An older backup must not set LastSyncTime back.
func TestIdlePrimary(t *testing.T) {
	t.Parallel()
	l := newLine(t, directory.Place{Dir: t.TempDir()})
	expect := func(after string, want edm.Ticks) {
		t.Helper()
		for range 2 * lookAtAll {
			_ = l.applyShipped(t.Context())
		}
		at, _, err := l.store.Position()
		if must.OK(t, err); l.Replication().LastSync != want || at.Synced != want {
			t.Errorf("%s: LastSyncTime is %v, in the store %v, want %v", after, l.Replication().LastSync, at.Synced, want)
		}
	}
	l.ship()
	expect("a piece", l.to-5)
	l.backUpQuiet(l.to, l.to+100)
	expect("an idle backup", l.to+100)
	l.backUpQuiet(l.to, l.to+300)
	expect("another one", l.to+300)
	l.synced = l.to + 7 // an earlier time, as after the clock of the primary was set back
	l.ship()
	expect("a write", l.synced)
	l.backUpQuiet(l.to+5, l.to+500)
	expect("a backup with more", l.synced)
}

// TestClockSetBack checks that LastSyncTime is the time in the last piece of the log, even if this time is earlier
// than before, because the clock of the primary was set back.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	l := newLine(t, directory.Place{Dir: t.TempDir()})
	l.synced = 1000
	l.ship()
	must.OK(t, l.applyShipped(t.Context()))
	l.synced = 400
	l.ship()
	must.OK(t, l.applyShipped(t.Context()))
	if r := l.Replication(); r.LastSync != 400 {
		t.Errorf("%v", r)
	}
}
