package repository_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"edgetable/adapters/backup/repository"
	"edgetable/core/commitlog"
	"edgetable/core/edm"
	"edgetable/testdata/must"
)

// encrypt makes the later log pieces of s encrypted. The test keeps the private key in s.with. The backup location
// knows only the public key.
func (s *story) encrypt() {
	private, err := age.GenerateX25519Identity()
	must.OK(s.t, err)
	s.keys, s.with = []string{private.Recipient().String()}, []age.Identity{private}
}

// TestJoin checks that Join joins the log pieces of past hours. It also joins encrypted pieces, without the private
// key. After Join, each moment can still be restored, even with an earlier plan, and a second Join has nothing to do.
func TestJoin(t *testing.T) {
	t.Parallel()
	for _, encrypted := range []bool{false, true} {
		s := newStory(t, 8)
		if encrypted {
			s.encrypt()
		}
		var ends []edm.Ticks
		for range 40 {
			s.ship()
			ends = append(ends, s.to)
			if s.rand.IntN(20) == 0 {
				s.begins = true // marks a gap, as if the server had discarded logs before it shipped them
			}
		}
		before := s.place.count("log/")
		plan, err := s.r.PlanRestore(t.Context(), s.to, "", "")
		must.OK(t, err)
		done, err := s.r.Join(t.Context(), time.Time{}, s.now)
		must.OK(t, err)
		if after := s.place.count("log/"); done.Objects == 0 || after != before-done.Pieces+done.Objects || after > before*2/3 {
			t.Errorf("%d objects became %d: %+v", before, after, done)
		}
		for i, n := range s.commits {
			if i%5 == 0 || n == s.to {
				must.OK(t, s.restored(n))
				must.OK(t, s.restored(n-1))
			}
		}
		must.OK(t, s.restored(s.to))
		got := 0
		for _, step := range plan.Steps {
			_, list, err := s.r.ReadPiece(t.Context(), &step.Piece, s.with)
			must.OK(t, err)
			for _, c := range list {
				if c.Number > step.Above && c.Number <= step.UpTo {
					got++
				}
			}
		}
		if got != len(s.commits) {
			t.Errorf("a plan from before leads to %d of %d commits", got, len(s.commits))
		}
		if report := s.verify(); len(report.Problems) > 0 || report.Commits != len(s.commits) {
			t.Errorf("%d of %d commits, problems %q", report.Commits, len(s.commits), report.Problems)
		}
		again, err := s.r.Join(t.Context(), time.Time{}, s.now)
		if must.OK(t, err); again != (repository.Joined{}) {
			t.Errorf("joined again: %+v", again)
		}

		// A second Join adds later log pieces of an hour that is already partly joined. A secondary whose position is in
		// the middle of a joined piece can continue from there.
		s.now = s.now.Add(2 * time.Hour)
		s.ship()
		_, err = s.r.Join(t.Context(), time.Time{}, s.now.Add(time.Hour))
		must.OK(t, err)
		must.OK(t, s.restored(s.to))
		for _, n := range ends {
			list, gap, err := s.r.Behind(t.Context(), s.timeline, n, false)
			if must.OK(t, err); len(list) == 0 || gap != nil || list[len(list)-1].To != s.to {
				t.Errorf("from %v the log leads by %d pieces, gap %v", n, len(list), gap)
			}
		}
	}
}

// TestJoinKilled kills a Join at each of its requests. No commit may be lost, and the next Join must complete the
// work.
func TestJoinKilled(t *testing.T) {
	t.Parallel()
	for n := 0; ; n++ {
		s := newStory(t, 9)
		for range 12 {
			s.ship()
		}
		_, err := repository.New(stepped{s.place, killAt(n)}).Join(t.Context(), time.Time{}, s.now.Add(time.Hour))
		if err != nil && !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		must.OK(t, s.restored(s.to))
		if err == nil {
			if n < 20 {
				t.Errorf("it has only %d steps", n)
			}
			return
		}
		_, err = s.r.Join(t.Context(), time.Time{}, s.now.Add(time.Hour))
		must.OK(t, err)
		must.OK(t, s.restored(s.to))
		if p := s.verify().Problems; len(p) > 0 {
			t.Errorf("killed at %d: %q", n, p)
		}
	}
}

// TestJoinDamaged checks that VerifyLog detects a changed byte anywhere in a joined log piece.
func TestJoinDamaged(t *testing.T) {
	t.Parallel()
	s := newStory(t, 10)
	for range 12 {
		s.ship()
	}
	_, err := s.r.Join(t.Context(), time.Time{}, s.now.Add(time.Hour))
	must.OK(t, err)
	for name, b := range s.place.objects {
		if !strings.HasPrefix(name, "log/") || !bytes.HasPrefix(b, []byte("edgetable log 2, ")) {
			continue
		}
		for at := 0; at < len(b); at += 37 {
			damaged := bytes.Clone(b)
			damaged[at] ^= 4
			s.place.objects[name] = damaged
			if p := s.verify().Problems; len(p) == 0 {
				t.Fatalf("byte %d of %s is changed, and no problem is told", at, name)
			}
		}
		s.place.objects[name] = b
	}
	if p := s.verify().Problems; len(p) > 0 {
		t.Errorf("%q", p)
	}
}

// TestFewObjects checks that a restore reads few objects of the log: one for each past hour, and the single log
// pieces of the last 65 to 75 minutes. If the server ships a piece each second, the log of a week has 168 joined
// objects and at most 4,500 single pieces.
func TestFewObjects(t *testing.T) {
	t.Parallel()
	const hours, every = 4, 10 * time.Second
	s := newStory(t, 11)
	began, before := s.now, s.to
	for s.now.Sub(began) < hours*time.Hour {
		s.now = s.now.Add(every)
		sealed, err := seal(repository.Piece{Timeline: s.timeline, From: s.to, To: s.tick(), StartsLog: s.begins}, []commitlog.Commit{{Number: s.tick(), Record: []byte("x")}}, nil)
		must.OK(t, err)
		must.OK(t, s.r.Ship(t.Context(), sealed))
		s.to, s.begins = s.tick(), false
		if s.now.Sub(began)%(10*time.Minute) == 0 { // the server also calls Join every ten minutes
			_, err := s.r.Join(t.Context(), s.now.Add(-3*time.Hour), s.now)
			must.OK(t, err)
		}
	}
	plan, err := s.r.PlanRestore(t.Context(), s.to, "", "")
	must.OK(t, err)
	for _, step := range plan.Steps {
		_, list, err := s.r.ReadPiece(t.Context(), &step.Piece, nil)
		must.OK(t, err)
		for _, c := range list {
			if c.Number != before+edm.Ticks(every/100) {
				t.Fatalf("%v follows %v", c.Number, before)
			}
			before = c.Number
		}
	}
	if before != s.to {
		t.Errorf("the log leads to %v, not to %v", before, s.to)
	}
	if n, most := len(plan.Steps), hours+int(75*time.Minute/every); n > most {
		t.Errorf("%d hours of log are %d objects, and may be %d", hours, n, most)
	}
}
