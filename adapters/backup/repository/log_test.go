package repository_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"filippo.io/age"

	"edgetable/adapters/backup/repository"
	"edgetable/core/commitlog"
	"edgetable/core/edm"
	"edgetable/testdata/must"
)

// story is a backup location with backups and a log. It also records the expected result of a restore: the numbers
// of all commits of the newest timeline and its ancestors.
type story struct {
	t        *testing.T
	place    *shelf
	r        *repository.Repository
	rand     *rand.Rand
	now      time.Time
	keys     []string
	with     []age.Identity
	timeline string
	commits  []edm.Ticks // expected commits, in order
	to       edm.Ticks   // number of the last commit that was shipped
	left     edm.Ticks   // the timeline and its parent have the same commits up to this number
	begins   bool
	files    int
	spans    map[string]repository.LogSpan
}

func newStory(t *testing.T, seed uint64) *story {
	place := newShelf()
	s := &story{
		t: t, place: place, r: repository.New(place), rand: rand.New(rand.NewPCG(seed, 5)),
		now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), spans: map[string]repository.LogSpan{},
	}
	s.begin("", 0)
	s.backup()
	s.to, s.begins = s.spans["newest"].Low, true
	return s
}

func (s *story) tick() edm.Ticks { return edm.TicksOf(s.now) }

func (s *story) begin(parent string, left edm.Ticks) {
	line, err := s.r.BeginTimeline(s.t.Context(), repository.Timeline{Parent: parent, ForkedAt: left, Store: "this", From: "here", StartedAt: s.now})
	must.OK(s.t, err)
	s.timeline, s.left = line.ID, left
}

// backup makes a backup of the current state. Up to two of the last commits have numbers above LogSpan.Low. The backup
// may have or lack these commits.
func (s *story) backup() (m *repository.Manifest) {
	span := repository.LogSpan{Timeline: s.timeline, Low: s.tick(), High: s.tick()}
	if n := len(s.commits); n > 3 {
		span.Low = max(s.left, s.commits[n-1-s.rand.IntN(3)])
	}
	s.spans["newest"] = span
	s.files++
	s.again(func() error {
		dir := filepath.Join(s.t.TempDir(), "staged")
		made, err := s.r.Create(s.t.Context(), repository.Source{
			Store: "this", From: "here", Program: "test", Keys: s.keys,
			Snapshot: func(context.Context) (string, *repository.LogSpan, error) {
				return dir, &span, stage(dir, map[string]content{fmt.Sprintf("%06d.sst", s.files): {bytes.Repeat([]byte{byte(s.files)}, 50), s.now}})
			},
			Check: func(string) error { return nil }, Begin: func(string) error { return nil }, Progress: func(int64, int64) {},
			Now: func() time.Time { return s.now },
		})
		m = made
		return err
	})
	return m
}

// again(do) repeats the operation do until the backup location reports no fault.
func (s *story) again(do func() error) {
	s.t.Helper()
	err := errFault
	for range 1000 {
		if err = do(); !errors.Is(err, errFault) {
			break
		}
	}
	must.OK(s.t, err)
}

// seal makes a log piece from commits.
func seal(p repository.Piece, list []commitlog.Commit, keys []string) (*repository.Sealed, error) {
	codecs := []repository.Codec{repository.Zstd, repository.S2}
	w, err := repository.NewPieceWriter(keys, codecs[len(list)%2])
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		if err := w.Add(c); err != nil {
			return nil, err
		}
	}
	return w.Seal(p, repository.Zstd)
}

// ship ships some new commits in one log piece.
func (s *story) ship() {
	var list []commitlog.Commit
	for range 1 + s.rand.IntN(4) {
		s.now = s.now.Add(time.Duration(1+s.rand.IntN(600)) * time.Second)
		s.commits = append(s.commits, s.tick())
		list = append(list, commitlog.Commit{Number: s.tick(), Record: fmt.Appendf(nil, "commit %d", s.tick())})
	}
	s.now = s.now.Add(time.Second)
	p := repository.Piece{Timeline: s.timeline, From: s.to, To: s.tick(), Synced: s.tick(), StartsLog: s.begins}
	sealed, err := seal(p, list, s.keys)
	must.OK(s.t, err)
	s.again(func() error { return s.r.Ship(s.t.Context(), sealed) })
	s.to, s.begins = p.To, false
}

// restored checks that the state at a commit number can be restored, with exactly the commits up to this number.
func (s *story) restored(to edm.Ticks) error {
	s.t.Helper()
	plan, err := s.r.PlanRestore(s.t.Context(), to, "", "")
	if err != nil {
		return err
	}
	var got []edm.Ticks
	for _, n := range s.commits { // commits in the backup
		if n <= plan.Base.Log.Low {
			got = append(got, n)
		}
	}
	for _, step := range plan.Steps {
		_, list, err := s.r.ReadPiece(s.t.Context(), &step.Piece, s.with)
		if err != nil {
			return err
		}
		for _, c := range list {
			if c.Number > step.Above && c.Number <= step.UpTo {
				got = append(got, c.Number)
				if string(c.Record) != fmt.Sprintf("commit %d", c.Number) {
					s.t.Fatalf("%q", c.Record)
				}
			}
		}
	}
	var want []edm.Ticks
	for _, n := range s.commits {
		if n <= to {
			want = append(want, n)
		}
	}
	if !slices.Equal(got, want) {
		s.t.Fatalf("restored to %v: %v, want %v", to, got, want)
	}
	return nil
}

func (s *story) verify() *repository.LogReport {
	s.t.Helper()
	report, err := s.r.VerifyLog(s.t.Context(), s.with, func(int64, int64) {})
	must.OK(s.t, err)
	return report
}

// TestPrunePointInTime prunes at random moments of random histories, which contain promotions. After each prune, every
// moment of the period Retention.PointInTime must be restorable. In the end, some older log pieces must be removed.
func TestPrunePointInTime(t *testing.T) {
	t.Parallel()
	removed, seeds := 0, 12
	if testing.Short() {
		seeds = 8
	}
	for seed := range uint64(seeds) {
		s := newStory(t, seed)
		first := s.spans["newest"].High
		promise := time.Duration(1+s.rand.IntN(20)) * time.Hour
		for range 60 {
			switch s.rand.IntN(8) {
			case 0:
				s.backup()
			case 1: // a secondary is promoted, or the store is restored to an earlier moment
				left := s.to
				if n := len(s.commits); n > 2 && s.rand.IntN(2) == 0 && s.commits[n-2] > s.spans["newest"].High {
					left = s.commits[n-2]
					s.commits = s.commits[:n-1]
				}
				s.begin(s.timeline, left)
				s.to = left
			case 2:
				done, err := s.r.Prune(t.Context(), repository.Pruning{Retention: repository.Retention{Last: 1, PointInTime: promise}, Now: s.now})
				must.OK(t, err)
				removed += done.Pieces
				if p := s.verify().Problems; len(p) > 0 {
					t.Fatalf("seed %d: %q", seed, p)
				}
			default:
				s.ship()
			}
			for range 5 {
				at := max(first, edm.TicksOf(s.now.Add(-time.Duration(s.rand.Int64N(int64(promise))))))
				if at > s.to {
					continue
				}
				if err := s.restored(at); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
		}
	}
	if removed == 0 {
		t.Error("nothing was removed")
	}
}

// TestVerifyLog damages or removes objects of the log. VerifyLog must name each such object, and no commit of a
// damaged object may be returned.
func TestVerifyLog(t *testing.T) {
	t.Parallel()
	flips := 400
	if testing.Short() {
		flips = 40
	}
	for _, encrypted := range []bool{false, true} {
		s := newStory(t, 1)
		if encrypted {
			key, err := age.GenerateX25519Identity()
			must.OK(t, err)
			s.keys, s.with = []string{key.Recipient().String()}, []age.Identity{key}
		}
		for range 20 {
			s.ship()
		}
		s.backup()
		s.ship()
		if p := s.verify(); len(p.Problems)+len(p.Known) > 0 || p.Pieces != 21 || len(p.Ranges) != 1 {
			t.Fatalf("%+v", p)
		}
		var names []string
		for o, err := range s.place.List(t.Context(), "") {
			must.OK(t, err)
			if strings.HasPrefix(o.Name, "log/") || strings.HasPrefix(o.Name, "timelines/") {
				names = append(names, o.Name)
			}
		}
		slices.Sort(names)
		all, err := s.r.Pieces(t.Context(), "")
		must.OK(t, err)
		for i := range flips {
			name := names[i%len(names)]
			whole, err := s.place.Get(t.Context(), name)
			must.OK(t, err)
			damaged := bytes.Clone(whole)
			damaged[s.rand.IntN(len(damaged))] ^= 1 << s.rand.IntN(8)
			must.OK(t, s.place.Put(t.Context(), name, damaged))
			report := s.verify()
			if p := report.Problems; len(p) == 0 || !strings.Contains(p[0], name) {
				t.Fatalf("a flipped bit of %s is not found: %q", name, p)
			}
			for _, one := range report.Ranges {
				must.OK(t, s.restored(one[0]))
				must.OK(t, s.restored(one[1]))
				for _, p := range all { // the restorable ranges must not contain the end of the damaged log piece
					if strings.HasSuffix(name, fmt.Sprintf("%016x-%016x", p.From, p.To)) && p.To >= one[0] && p.To <= one[1] {
						t.Fatalf("%s is damaged, and %v was promised", name, p.To)
					}
				}
			}
			if n := i % len(names); n < len(all) { // restores and secondaries (standby stores) also call ReadPiece
				_, list, err := s.r.ReadPiece(t.Context(), &all[n], s.with)
				if _, damaged := errors.AsType[*repository.DamagedPiece](err); !damaged || len(list) > 0 {
					t.Fatalf("%d commits of %s are read, %v", len(list), name, err)
				}
			}
			must.OK(t, s.place.Put(t.Context(), name, whole))
		}
		for _, name := range names {
			whole, err := s.place.Get(t.Context(), name)
			must.OK(t, err)
			must.OK(t, s.place.Delete(t.Context(), name))
			last := name == slices.MaxFunc(names, strings.Compare) || strings.Contains(name, fmt.Sprintf("-%016x", int64(s.to)))
			if p := s.verify().Problems; len(p) != 1 && strings.HasPrefix(name, "log/") && !last {
				t.Fatalf("%s is gone: %q", name, p)
			}
			must.OK(t, s.place.Put(t.Context(), name, whole))
		}
		if _, _, err := s.r.ReadPiece(t.Context(), &repository.Piece{Timeline: s.timeline, From: 1, To: 2}, nil); err == nil {
			t.Error("a missing piece was read")
		}
	}
}

// TestReplaced checks that a store whose timeline is not the newest can no longer ship its log.
func TestReplaced(t *testing.T) {
	t.Parallel()
	s := newStory(t, 2)
	s.ship()
	sealed, err := seal(repository.Piece{Timeline: s.timeline, From: s.to, To: s.to + 5}, []commitlog.Commit{{Number: s.to + 5}}, nil)
	must.OK(t, err)
	old := s.timeline
	s.begin(s.timeline, s.to-1)
	if err := s.r.Ship(t.Context(), sealed); !errors.Is(err, repository.ErrReplaced) {
		t.Errorf("%v", err)
	}
	if list, err := s.r.Pieces(t.Context(), old); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}

// TestOverlap checks that a restore is correct even if log pieces overlap. If the backup location stores a
// delayed piece, the same commits may already be in other pieces.
func TestOverlap(t *testing.T) {
	t.Parallel()
	s := newStory(t, 3)
	before := s.to
	for range 5 {
		s.ship()
	}
	all := slices.Clone(s.commits)
	var list []commitlog.Commit
	for _, n := range all[1:3] {
		list = append(list, commitlog.Commit{Number: n, Record: fmt.Appendf(nil, "commit %d", n)})
	}
	for _, p := range []repository.Piece{{From: all[0], To: all[2]}, {From: all[0], To: all[1]}, {From: before, To: before + 1}} {
		p.Timeline = s.timeline
		n := 0
		for n < len(list) && list[n].Number <= p.To {
			n++
		}
		sealed, err := seal(p, list[:n], nil)
		must.OK(t, err)
		must.OK(t, s.r.Ship(t.Context(), sealed))
	}
	for _, n := range all {
		must.OK(t, s.restored(n))
		must.OK(t, s.restored(n-1))
	}
	if p := s.verify().Problems; len(p) > 0 {
		t.Errorf("%q", p)
	}
	pieces, gap, err := s.r.Behind(t.Context(), s.timeline, before, true)
	if must.OK(t, err); len(pieces) == 0 || pieces[len(pieces)-1].To != s.to || gap != nil {
		t.Errorf("the pieces %v do not lead to %v: %v", pieces, s.to, gap)
	}
}

// TestBehind checks that Next finds the log pieces that continue the log, also in the folders of later minutes.
// Behind must also find a gap, and a piece that a delayed request stored in the folder of an earlier minute.
func TestBehind(t *testing.T) {
	t.Parallel()
	s := newStory(t, 3)
	at := func(seconds int) edm.Ticks { return edm.TicksOf(time.Date(2030, 1, 1, 0, 0, seconds, 0, time.UTC)) }
	ship := func(from, to int) {
		t.Helper()
		sealed, err := seal(repository.Piece{Timeline: s.timeline, From: at(from), To: at(to)}, nil, nil)
		must.OK(t, err)
		must.OK(t, s.r.Ship(t.Context(), sealed))
	}
	for _, span := range [][2]int{{10, 20}, {20, 65}, {65, 70}, {70, 250}, {250, 260}, {30, 300}, {400, 410}} {
		ship(span[0], span[1])
	}
	for _, c := range []struct {
		from, to, n int
		all         bool
		gap         int // number at the end of the gap; 0 means no gap
	}{
		{10, 300, 3, false, 0}, // after the piece (20, 65], Next returns the piece (30, 300], which ends last of all pieces that continue the log
		{65, 260, 3, false, 0}, // Next does not list folders of earlier minutes, so it does not find the log piece (30, 300]
		{65, 300, 1, true, 400},
		{260, 260, 0, false, 0},
		{260, 300, 1, true, 400},
		{300, 300, 0, true, 400},
		{400, 410, 1, true, 0},
		{5, 5, 0, true, 10},
	} {
		list, err := s.r.Next(t.Context(), s.timeline, at(c.from))
		must.OK(t, err)
		var gap *repository.Gap
		if c.all {
			list, gap, err = s.r.Behind(t.Context(), s.timeline, at(c.from), true)
			must.OK(t, err)
			near, same, err := s.r.Behind(t.Context(), s.timeline, at(c.from), false)
			if must.OK(t, err); !slices.EqualFunc(near, list, func(a, b repository.Piece) bool { return a.From == b.From && a.To == b.To }) || (same == nil) != (gap == nil) {
				t.Errorf("%+v: a list of what may begin near leads by %v to %v", c, near, same)
			}
		}
		to := at(c.from)
		for _, p := range list {
			if p.From > to {
				t.Errorf("%+v: %v does not continue %v", c, p, to)
			}
			to = p.To
		}
		if len(list) != c.n || to != at(c.to) || (gap != nil) != (c.gap > 0) || gap != nil && (gap.Above != to || gap.UpTo != at(c.gap)) {
			t.Errorf("%+v: %v, gap %v", c, list, gap)
		}
	}
}

// forbidden is a backup location whose objects in one folder may not be read.
type forbidden struct {
	*shelf
	folder string
}

func (f forbidden) Get(ctx context.Context, name string) ([]byte, error) {
	if strings.HasPrefix(name, f.folder) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EACCES}
	}
	return f.shelf.Get(ctx, name)
}

// TestVerifyForbidden checks that Verify and VerifyLog fail if an object may not be read, because missing permissions are
// no damage.
func TestVerifyForbidden(t *testing.T) {
	t.Parallel()
	s := newStory(t, 1)
	s.ship()
	s.backup()
	w := newWorld(1)
	w.change()
	place := newShelf()
	_, err := w.create(t, t.Context(), place)
	must.OK(t, err)
	all := w.check(t, place)
	_, err = repository.New(forbidden{place, "objects/"}).Verify(t.Context(), all.Complete, nil, func(int64, int64) {})
	if !errors.Is(err, fs.ErrPermission) {
		t.Errorf("objects: %v", err)
	}
	for _, folder := range []string{"log/", "log-pruned", "timelines/"} {
		_, err := repository.New(forbidden{s.place, folder}).VerifyLog(t.Context(), nil, func(int64, int64) {})
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", folder, err)
		}
	}
}
