package repository_test

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/backup/repository"
	"edgetable/core/commitlog"
	"edgetable/testdata/must"
)

// backupOf makes a backup with the given LogSpan, which may be nil. It may belong to an older timeline, because earlier
// versions made backups even after the store had been replaced.
func (s *story) backupOf(span *repository.LogSpan, before func()) (*repository.Manifest, error) {
	s.now = s.now.Add(time.Second)
	dir := filepath.Join(s.t.TempDir(), "staged")
	return s.r.Create(s.t.Context(), repository.Source{
		Store: "this", From: "here", Program: "test",
		Snapshot: func(context.Context) (string, *repository.LogSpan, error) {
			return dir, span, stage(dir, map[string]content{"000001.sst": {[]byte("data"), s.now}})
		},
		Check: func(string) error { before(); return nil }, Begin: func(string) error { return nil }, Progress: func(int64, int64) {},
		Now: func() time.Time { return s.now },
	})
}

func nothing() {}

// promoted returns a backup location (a story) after the promotion of a secondary. The new timeline has two log
// pieces and a backup.
func promoted(t *testing.T) (s *story, old repository.LogSpan, own *repository.Manifest) {
	s = newStory(t, 4)
	s.ship()
	old = repository.LogSpan{Timeline: s.timeline, Low: s.to + 1, High: s.to + 1}
	s.begin(s.timeline, s.to)
	s.ship()
	own = s.backup()
	s.ship()
	return s, old, own
}

// TestReplacedBackup checks that a replaced store makes no backup, even if another store replaces it during the
// backup. A refused backup must leave no unfinished run, because such a run keeps a prune from deleting objects.
func TestReplacedBackup(t *testing.T) {
	t.Parallel()
	s, old, _ := promoted(t)
	for _, span := range []*repository.LogSpan{&old, {Timeline: old.Timeline, Low: old.Low, High: old.High, WithoutLog: true}, nil} {
		if _, err := s.backupOf(span, nothing); !errors.Is(err, repository.ErrReplaced) {
			t.Errorf("%+v: %v", span, err)
		}
	}
	now := repository.LogSpan{Timeline: s.timeline, Low: s.to, High: s.to}
	if _, err := s.backupOf(&now, func() { s.begin(s.timeline, s.to) }); !errors.Is(err, repository.ErrReplaced) {
		t.Errorf("replaced meanwhile: %v", err)
	}
	if all, err := s.r.List(t.Context()); err != nil || len(all.Complete) != 2 || len(all.Unfinished) > 0 {
		t.Errorf("%v, %+v", err, all)
	}
}

// TestBackupOnNoLine checks a backup that a store made after a promoted secondary had replaced the store. Only
// an earlier version of edgetable could make such a backup, because it did not look for a newer timeline. The
// backup is newer than the last write of the promoted store. But the newest state must not use this backup. A
// prune must not count this backup among the backups that it keeps.
func TestBackupOnNoLine(t *testing.T) {
	t.Parallel()
	for _, span := range []string{"log", "alone", "none"} {
		s, old, own := promoted(t)
		var history *repository.LogSpan
		switch old.WithoutLog = span == "alone"; span {
		case "log", "alone":
			history = &old
		}
		s.place.hidden = "timelines/" // lists of the location omit the promoted store's timeline, so that the backup is like one of an earlier version of edgetable
		if history != nil {
			s.place.hidden = "timelines/00000002" // the old timeline must be visible, because the backup names it
		}
		stray, err := s.backupOf(history, nothing)
		must.OK(t, err)
		s.place.hidden = ""
		state, err := s.r.NewestState(t.Context(), "")
		if err != nil || state.Plan == nil || state.Plan.To != s.to {
			t.Fatalf("%s: %+v, %v", span, state, err)
		}
		if m, err := s.r.Newest(t.Context()); err != nil || m.ID != own.ID {
			t.Errorf("%s: the newest backup is %v, %v", span, m, err)
		}
		if report := s.verify(); len(report.Problems) > 0 || !slices.ContainsFunc(report.Notes, func(n string) bool { return strings.Contains(n, stray.ID) }) {
			t.Errorf("%s: %+v", span, report)
		}
		prune := func() []string {
			done, err := s.r.Prune(t.Context(), repository.Pruning{Retention: repository.Retention{Last: 1}, Now: s.now})
			must.OK(t, err)
			return done.Removed
		}
		if removed := prune(); slices.Contains(removed, own.ID) || slices.Contains(removed, stray.ID) {
			t.Errorf("%s: removed %q; %s is of the newest store, and %s is newer", span, removed, own.ID, stray.ID)
		}
		must.OK(t, s.restored(s.to))
		s.now = s.now.Add(time.Hour)
		s.backup()
		if removed := prune(); !slices.Contains(removed, stray.ID) {
			t.Errorf("%s: removed %q, and %s stays for good", span, removed, stray.ID)
		}
	}
}

// TestNothingLess checks that a restore of the newest state fails if this state is incomplete. The error must name
// the older state that can be restored. The verify report must name the lost objects.
func TestNothingLess(t *testing.T) {
	t.Parallel()
	s, _, own := promoted(t)
	s.ship()
	names := func(prefix string) (list []string) {
		for o, err := range s.place.List(t.Context(), prefix) {
			must.OK(t, err)
			list = append(list, o.Name)
		}
		slices.Sort(list)
		return list
	}
	pieces, err := s.r.Pieces(t.Context(), s.timeline)
	must.OK(t, err)
	middle := names("log/" + s.timeline)[len(pieces)-2]
	timelines := names("timelines/")
	for _, tt := range []struct {
		lost []string
		flip bool
		want string
	}{
		{lost: []string{middle}, want: "--to-time " + pieces[len(pieces)-2].From.String()},
		{lost: timelines[1:], want: "--backup "},
		{lost: timelines[1:], flip: true, want: "--backup "},
		{lost: timelines[:1], want: "--backup "},
		{lost: timelines[:1], flip: true, want: "--backup "},
		{lost: timelines, want: "--backup "},
	} {
		saved := map[string][]byte{}
		for _, name := range tt.lost {
			saved[name] = slices.Clone(s.place.objects[name])
			if delete(s.place.objects, name); tt.flip {
				s.place.objects[name] = slices.Clone(saved[name])
				s.place.objects[name][200] ^= 1
			}
		}
		state, err := s.r.NewestState(t.Context(), "")
		if _, less := errors.AsType[*repository.NewestStateError](err); !less || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q, flipped %v: %+v, %v", tt.lost, tt.flip, state, err)
		}
		if len(s.verify().Problems) == 0 {
			t.Errorf("%q, flipped %v: no problem is named", tt.lost, tt.flip)
		}
		for name, b := range saved {
			s.place.objects[name] = b
		}
	}
	state, err := s.r.NewestState(t.Context(), "")
	if err != nil || state.Plan.To != s.to || state.Plan.Base.ID != own.ID {
		t.Errorf("%+v, %v", state, err)
	}
	// This step removes the backups of the newest timeline and its ancestors. An earlier version of edgetable could
	// also remove these backups by a prune.
	done, err := s.r.Prune(t.Context(), repository.Pruning{Remove: []string{own.ID, names("backups/")[0][len("backups/"):]}, Now: s.now})
	must.OK(t, err)
	if len(done.Removed) != 2 {
		t.Fatalf("%+v", done)
	}
	report := s.verify()
	if len(report.Notes) == 0 || len(report.Problems) == 0 || !strings.Contains(report.Problems[0], "it cannot be applied to any backup") {
		t.Errorf("%+v", report)
	}
}

// TestBackupWithoutItsTimeline checks backups of a store whose log is in another backup location. Each backup must be
// complete by itself, also after the store has begun to ship its log to the same location. With earlier=true, the
// manifests say that a log continues the backups, as manifests of earlier versions of edgetable do.
func TestBackupWithoutItsTimeline(t *testing.T) {
	t.Parallel()
	for _, span := range []repository.LogSpan{{}, {WithoutLog: true}} {
		for _, earlier := range []bool{false, true} {
			s := &story{t: t, place: newShelf(), now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), rand: rand.New(rand.NewPCG(1, 5)), spans: map[string]repository.LogSpan{}}
			s.r = repository.New(s.place)
			span.Timeline, span.Low, span.High = repository.NewTimelineID(), s.tick(), s.tick()
			if earlier {
				s.begin("", 0)
				span.Timeline = s.timeline
			}
			var plain *repository.Manifest
			for range 2 {
				m, err := s.backupOf(&span, nothing)
				must.OK(t, err)
				plain = m
			}
			if earlier {
				must.OK(t, s.r.BeginTerm(t.Context(), s.timeline, repository.NewTerm(commitlog.Term{}), "here"))
				delete(s.place.objects, "timelines/00000001-"+s.timeline)
				if report := s.verify(); len(report.Problems) == 0 {
					t.Error("a term is left, but no lost timeline is reported")
				}
				maps.DeleteFunc(s.place.objects, func(name string, _ []byte) bool { return strings.HasPrefix(name, "timelines/") })
			} else if plain.Log != nil || plain.SpanWithoutLog != nil || plain.Timeline() != span.Timeline {
				t.Errorf("%+v", plain)
			}
			state, err := s.r.NewestState(t.Context(), "")
			if err != nil || state.Backup == nil || state.Backup.ID != plain.ID {
				t.Fatalf("%+v, earlier %v: %+v, %v", span, earlier, state, err)
			}
			if _, err := s.r.PlanRestore(t.Context(), s.tick(), "", ""); !errors.Is(err, repository.ErrNoLog) {
				t.Error(err)
			}
			if report := s.verify(); len(report.Problems) > 0 {
				t.Errorf("%+v, earlier %v: %q", span, earlier, report.Problems)
			}
			s.now = s.now.Add(time.Minute)
			s.begin("", 0)
			own := s.backup()
			s.to, s.begins = s.spans["newest"].Low, true
			s.ship()
			if report := s.verify(); len(report.Problems) > 0 {
				t.Errorf("%+v, earlier %v, with a log: %q", span, earlier, report.Problems)
			}
			must.OK(t, s.restored(s.to))
			done, err := s.r.Prune(t.Context(), repository.Pruning{Retention: repository.Retention{Last: 2}, Now: s.now})
			if must.OK(t, err); len(done.Removed) != 1 || done.Kept != 2 || done.Removed[0] == plain.ID || own.Timeline() != s.timeline {
				t.Errorf("%+v, earlier %v: %+v; %s is the second newest backup", span, earlier, done, plain.ID)
			}
		}
	}
}
