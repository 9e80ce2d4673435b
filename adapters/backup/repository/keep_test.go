package repository_test

import (
	"strings"
	"testing"
	"time"

	"edgetable/adapters/backup/repository"
)

// TestKeep makes a backup every six hours and checks which backups each rule keeps.
func TestKeep(t *testing.T) {
	t.Parallel()
	w, place := newWorld(1), newShelf()
	first := w.now
	var ids []string
	for i := range 12 { // makes a backup at 1:00, 7:00, 13:00 and 19:00 of three days
		w.change()
		m, err := w.create(t, t.Context(), place)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, m.ID)
		w.now = first.Add(time.Duration(i+1) * 6 * time.Hour)
	}
	now := w.now // 0:00 of the fourth day
	w.now = now.Add(1000 * time.Hour)
	if _, err := w.create(t, t.Context(), place); err != nil { // a backup whose time is in the future because of a wrong clock
		t.Fatal(err)
	}
	for _, tt := range []struct {
		keep repository.Retention
		want string // one letter for each backup; k means that the backup is kept
	}{
		{repository.Retention{Last: 3}, "---------kkk"},
		{repository.Retention{Daily: 2}, "-------k---k"},
		{repository.Retention{Daily: 9}, "---k---k---k"},
		{repository.Retention{Last: 2, Daily: 2}, "-------k--kk"},
		{repository.Retention{OlderThan: 24 * time.Hour}, "--------kkkk"},
		{repository.Retention{OlderThan: time.Minute}, "-----------k"},
		{repository.Retention{Last: 1, OlderThan: 1000 * time.Hour}, "kkkkkkkkkkkk"},
		{repository.Retention{}, "kkkkkkkkkkkk"},
	} {
		done, err := repository.New(place).Prune(t.Context(), repository.Pruning{Retention: tt.keep, DryRun: true, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		removed := map[string]bool{}
		for _, id := range done.Removed {
			removed[id] = true
		}
		got := ""
		for _, id := range ids {
			if removed[id] {
				got += "-"
			} else {
				got += "k"
			}
		}
		if got != tt.want || len(removed) != strings.Count(tt.want, "-") {
			t.Errorf("%+v: %s, want %s", tt.keep, got, tt.want)
		}
	}
	if n := place.count("backups/"); n != 13 {
		t.Errorf("a dry run left %d backups", n)
	}
}
