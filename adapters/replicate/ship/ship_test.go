package ship

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/backup/repository"
	"edgetable/adapters/objects/directory"
	"edgetable/adapters/store/pebblestore"
	"edgetable/core/commitlog"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/objects"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

var errLost = errors.New("the reply is lost")

// wire is a backup location in which a write of a timeline (a history of commits) fails. Either the request is lost, or the
// reply to the request.
type wire struct {
	objects.Place
	loseRequest, loseReply bool
}

func (w *wire) Put(ctx context.Context, name string, b []byte) error {
	if !strings.HasPrefix(name, "timelines/") {
		return w.Place.Put(ctx, name, b)
	}
	if w.loseRequest {
		return errLost
	}
	err := w.Place.Put(ctx, name, b)
	if w.loseReply {
		return errLost
	}
	return err
}

// TestLostTimeline checks a store that has begun a timeline (a history of commits) but has not received the reply. The store
// must recognize the timeline as its own. Otherwise it would conclude that another store has replaced it.
func TestLostTimeline(t *testing.T) {
	t.Parallel()
	for _, lost := range []wire{{loseRequest: true}, {loseReply: true}} {
		store, err := pebblestore.Open(pebblestore.Options{Dir: t.TempDir()})
		must.OK(t, err)
		defer store.Close()
		w := &wire{Place: &directory.Place{Dir: t.TempDir()}}
		errBase := errors.New("a backup is wanted")
		s := New(Options{
			Place: repository.New(w), Store: store, Primary: new(PrimaryStatus), Source: "here", Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
			Backup: func(context.Context) (*repository.LogSpan, error) { return nil, errBase }, Wake: func() {},
		})
		must.OK(t, s.beginTimeline(t.Context(), "", 0))
		first := store.Timeline()
		w.loseRequest, w.loseReply = lost.loseRequest, lost.loseReply
		if err := s.beginTimeline(t.Context(), first.ID, 0); !errors.Is(err, errLost) {
			t.Fatal(err)
		}
		w.loseRequest, w.loseReply = false, false
		if err := s.resumeShipping(t.Context()); !errors.Is(err, errBase) {
			t.Errorf("%+v: %v", lost, err)
		}
		timelines := func() []repository.Timeline {
			list, err := s.Place.Timelines(t.Context())
			must.OK(t, err)
			return list
		}
		own, all := store.Timeline(), timelines()
		if own.ID != all[len(all)-1].ID {
			t.Errorf("%+v: the store is on %s, the newest is %s", lost, own.ID, all[len(all)-1].ID)
		}
		if err := s.beginTimeline(t.Context(), own.ID, 0); err != nil {
			t.Error(err)
		}
		if got := len(timelines()); got != len(all)+1 {
			t.Errorf("%+v: %d timelines behind %d", lost, got, len(all))
		}
	}
}

// TestEmptyWithoutTimeline checks stores that made backups in a location, but have no timeline: the log was never shipped, or
// commits were lost. If the location is empty, for example because its disk is not mounted, they must write nothing there.
func TestEmptyWithoutTimeline(t *testing.T) {
	t.Parallel()
	for _, own := range []commitlog.Timeline{{Location: "place"}, {Location: "place", Parent: "0123456789abcdef"}} {
		s, dir := newShipping(t), t.TempDir()
		s.Named, s.Shipper.Place = "place", repository.New(&directory.Place{Dir: dir})
		must.OK(t, s.store.ChangeTimeline(func(t *commitlog.Timeline) { *t = own }))
		if err := s.resumeShipping(t.Context()); !errors.Is(err, repository.ErrEmpty) {
			t.Errorf("%+v: %v", own, err)
		}
		if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
			t.Errorf("%+v: the location has %v, %v", own, list, err)
		}
	}
}

// TestTakeOverKeepsLocation checks that a store still knows its backup location after it was made the primary again. At its
// next start, the disk of the location may not be mounted.
func TestTakeOverKeepsLocation(t *testing.T) {
	t.Parallel()
	s := newShipping(t)
	s.Named = "place"
	s.turn()
	must.OK(t, s.store.ChangeTimeline(func(t *commitlog.Timeline) { t.Replaced = &commitlog.Replaced{Reason: "for the test"} }))
	must.OK(t, TakeOver(t.Context(), s.Place, s.store, "here"))
	if own := s.store.Timeline(); own.Location != "place" || own.Replaced != nil {
		t.Errorf("it is %+v", own)
	}
}

// TestLateTerms checks requests that arrive in the backup location after their process was killed. Such a request begins a
// term, which is one run of a server that ships its log. The data directory already contains a record of the term. So the
// next process must recognize the term as a term of its own store.
func TestLateTerms(t *testing.T) {
	t.Parallel()
	store, err := pebblestore.Open(pebblestore.Options{Dir: t.TempDir()})
	must.OK(t, err)
	defer store.Close()
	w := &wire{Place: &directory.Place{Dir: t.TempDir()}}
	process := func() *Shipper {
		return New(Options{
			Place: repository.New(w), Store: store, Primary: new(PrimaryStatus), Source: "here", Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Wake: func() {},
		})
	}
	must.OK(t, process().beginTimeline(t.Context(), "", 0))
	w.loseRequest = true
	first, second := process(), process()
	for _, s := range []*Shipper{first, second} {
		if err := s.beginTerm(t.Context()); !errors.Is(err, errLost) {
			t.Fatal(err)
		}
	}
	w.loseRequest = false
	must.OK(t, first.Place.BeginTerm(t.Context(), store.Timeline().ID, first.term, "late")) // this process was killed before it received the reply
	must.OK(t, second.beginTerm(t.Context()))
	if now, err := second.Place.LogOwner(t.Context()); err != nil || now.Term != second.term {
		t.Errorf("the place has the term %v, %v; want %v", now.Term, err, second.term)
	}
}

// TestManyTriedTerms checks the length of the list of tried terms, to which each process adds a term until the backup
// location replies.
func TestManyTriedTerms(t *testing.T) {
	t.Parallel()
	s := newShipping(t)
	must.OK(t, s.beginTimeline(t.Context(), "", 0))
	s.away = true
	for range mostTried + 3 {
		s.term = commitlog.Term{} // as in a new process
		if err := s.beginTerm(t.Context()); !errors.Is(err, errLost) {
			t.Fatal(err)
		}
	}
	if n := len(s.store.Timeline().UnconfirmedTerms); n != mostTried {
		t.Errorf("the list has %d terms, want %d", n, mostTried)
	}
}

// shipping is a store that ships its log to a backup location. The location can be made to fail.
type shipping struct {
	t     *testing.T
	o     pebblestore.Options
	store *pebblestore.Store
	away  bool
	// upload is called before an object is stored; it may be nil.
	upload func()
	bases  int // number of backups that the shipper has requested
	*Shipper
}

type sometimes struct {
	objects.Place
	s *shipping
}

func (p sometimes) Put(ctx context.Context, name string, b []byte) error {
	if p.s.away {
		return errLost
	}
	if p.s.upload != nil {
		p.s.upload()
	}
	return p.Place.Put(ctx, name, b)
}

func newShipping(t *testing.T) *shipping {
	s := &shipping{t: t, o: pebblestore.Options{Dir: t.TempDir(), KeepLogs: 1 << 30}}
	place := repository.New(sometimes{&directory.Place{Dir: t.TempDir()}, s})
	s.Shipper = New(Options{Place: place})
	s.start()
	t.Cleanup(func() { s.store.Close() })
	return s
}

// start opens the store and makes a shipper, as a new process does.
func (s *shipping) start() {
	s.t.Helper()
	var err error
	s.store, err = pebblestore.Open(s.o)
	must.OK(s.t, err)
	s.Shipper = New(Options{
		Place: s.Place, Store: s.store, Primary: new(PrimaryStatus), KeepLogs: s.o.KeepLogs, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Backup: s.base, Wake: func() {},
	})
}

func (s *shipping) base(ctx context.Context) (log *repository.LogSpan, err error) {
	s.bases++
	identity, err := s.store.Identity()
	if err != nil {
		return nil, err
	}
	_, err = s.Place.Create(ctx, repository.Source{
		Store: identity, From: "here", Program: "test",
		Snapshot: func(ctx context.Context) (string, *repository.LogSpan, error) {
			dir := s.t.TempDir() + "/base"
			span, err := s.store.CheckpointSpan(ctx, dir)
			log = &repository.LogSpan{Timeline: s.store.Timeline().ID, Low: span.Low, High: span.High, Quiet: span.Quiet}
			return dir, log, err
		},
		Check: func(string) error { return nil }, Begin: func(string) error { return nil }, Progress: func(int64, int64) {}, Now: time.Now,
	})
	return log, err
}

func (s *shipping) service() *table.Service {
	return table.New(s.store, table.Options{Now: func() edm.Ticks { return edm.TicksOf(time.Now()) }, Rand: rand.Uint64})
}

// write makes one commit. The commit creates a table.
func (s *shipping) write(name string) {
	s.t.Helper()
	must.OK(s.t, s.service().CreateTable(s.t.Context(), table.Name{Account: "acme", Table: name}))
}

func (s *shipping) turn() {
	s.t.Helper()
	must.OK(s.t, s.Shipper.shipDurable(s.t.Context(), time.Minute))
}

// TestGivenUpBeforeStart checks that a server reports that log files were discarded before they were shipped, even if that
// happened before its start.
func TestGivenUpBeforeStart(t *testing.T) {
	t.Parallel()
	s := newShipping(t)
	s.turn()
	s.write("One")
	s.turn()
	if s.status.Pieces != 1 || s.status.GivenUp != 0 {
		t.Fatalf("%+v", s.status)
	}
	s.write("Two")
	must.OK(t, s.store.KeepLogs(0))
	must.OK(t, errors.Join(s.store.KeepLogs(s.o.KeepLogs), s.store.Close()))
	s.start()
	s.turn()
	s.write("Three")
	s.turn()
	if s.status.GivenUp != 1 || s.status.Pieces != 1 || s.bases != 2 {
		t.Errorf("%+v, %d backups", s.status, s.bases)
	}
}

// TestGivenUpWhileAway checks a server that discards log files before they were shipped, while the backup location does not
// respond. The server must report this loss exactly once. In the first case, the location has responded since the start of
// the server. In the second case, it has not.
func TestGivenUpWhileAway(t *testing.T) {
	t.Parallel()
	for _, joined := range []bool{true, false} {
		s := newShipping(t)
		s.turn()
		s.write("One")
		s.turn()
		if !joined {
			must.OK(t, s.store.Close())
			s.start()
		}
		s.away = true
		turn := func(given int64) {
			t.Helper()
			if err := s.Shipper.shipDurable(t.Context(), time.Minute); !errors.Is(err, errLost) || s.status.GivenUp != given {
				t.Errorf("joined %v: %+v, %v", joined, s.status, err)
			}
		}
		s.write("Two")
		turn(0)
		for range 2 {
			s.write(fmt.Sprint("Three", s.status.GivenUp))
			must.OK(t, errors.Join(s.store.KeepLogs(0), s.store.KeepLogs(s.o.KeepLogs)))
			turn(1)
		}
		s.away = false
		s.turn()
		s.write("Four")
		s.turn()
		if s.status.GivenUp != 1 || s.bases != 2 {
			t.Errorf("joined %v: %+v, %d backups", joined, s.status, s.bases)
		}
	}
}

// TestPromotedAfterPrune checks a promoted store whose shipped log was removed by a prune. The store must not report that its
// log has a gap.
func TestPromotedAfterPrune(t *testing.T) {
	t.Parallel()
	s := newShipping(t)
	s.turn()
	s.write("One")
	s.turn()
	must.OK(t, s.beginTimeline(t.Context(), s.store.Timeline().ID, s.to)) // a promotion also begins a timeline (a history of commits) by this call
	must.OK(t, s.beginTerm(t.Context()))
	for _, name := range []string{"Two", "Three"} { // the store discards log files that were shipped
		s.write(name)
		s.turn()
		_, err := s.base(t.Context())
		must.OK(t, err)
	}
	if own := s.store.Timeline(); own.LogAfter <= own.ForkedAt {
		t.Fatalf("%+v", own)
	}
	_, err := s.Place.Prune(t.Context(), repository.Pruning{Retention: repository.Retention{Last: 1}, Now: time.Now()})
	must.OK(t, err)
	if list := s.pieces(); len(list) > 0 {
		t.Fatalf("%d pieces", len(list))
	}
	bases := s.bases
	must.OK(t, s.store.Close())
	s.start()
	s.turn()
	s.write("Four")
	s.turn()
	if s.status.GivenUp != 0 || s.bases != bases || len(s.pieces()) != 1 {
		t.Errorf("%+v, %d more backups, %+v", s.status, s.bases-bases, s.pieces())
	}
}

// TestShippedLogIsLost removes a shipped piece of the log, as if an older copy of the backup location took its place. No
// restore could pass the hole. So the server must make a new backup: at its next start, and also without a start.
func TestShippedLogIsLost(t *testing.T) {
	t.Parallel()
	for _, restarts := range []bool{true, false} {
		dir := t.TempDir()
		s := newShipping(t)
		s.Shipper.Place = repository.New(&directory.Place{Dir: dir})
		s.turn()
		for _, name := range []string{"One", "Two", "Three"} {
			s.write(name)
			s.turn()
		}
		var list []string
		must.OK(t, filepath.WalkDir(filepath.Join(dir, "log"), func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				list = append(list, path)
			}
			return err
		}))
		if len(list) != 3 || s.bases != 1 {
			t.Fatalf("%q, %d backups", list, s.bases)
		}
		must.OK(t, os.Remove(list[1]))
		if restarts {
			must.OK(t, s.store.Close())
			s.start()
		} else {
			s.searched = time.Time{}
			s.turn()
		}
		s.write("Four")
		s.turn()
		if s.bases != 2 || s.status.GivenUp != 0 {
			t.Errorf("restarts %v: %d backups, %+v", restarts, s.bases, s.status)
		}
		s.searched = time.Time{}
		s.write("Five")
		s.turn()
		if s.bases != 2 {
			t.Errorf("restarts %v: %d backups", restarts, s.bases)
		}
		if _, err := s.Place.PlanRestore(t.Context(), s.to, "", ""); err != nil {
			t.Errorf("restarts %v: %v", restarts, err)
		}
	}
}

// newClocked returns a store that has shipped its first commit, and its clock, which only the test advances.
func newClocked(t *testing.T) (s *shipping, now *edm.Ticks) {
	t.Helper()
	s, now = newShipping(t), new(edm.TicksOf(time.Now()))
	must.OK(t, s.store.Close())
	s.o.Now = func() edm.Ticks { return *now }
	s.start()
	s.turn()
	s.write("One")
	s.turn()
	return s, now
}

// TestNoHoleInLongPiece checks the search for a hole after an idle time. The first piece after this time contains the number
// of a backup, and its folder is hours older than the backup. The log has no hole.
func TestNoHoleInLongPiece(t *testing.T) {
	t.Parallel()
	s, now := newClocked(t)
	*now += 3 * 3600 * edm.TicksPerSecond
	s.write("Two")
	_, err := s.base(t.Context())
	must.OK(t, err)
	*now += 10 * edm.TicksPerSecond
	s.write("Three")
	s.turn()
	*now += edm.TicksPerSecond
	s.write("Four")
	s.turn()
	bases := s.bases
	if hole, err := s.findHole(t.Context()); err != nil || hole {
		t.Errorf("hole %v, %v", hole, err)
	}
	s.turn()
	if s.bases != bases || s.gap {
		t.Errorf("%d more backups, gap %v", s.bases-bases, s.gap)
	}
}

// TestShippedWhen checks the message that says when the log will be shipped. If the backup location belongs to another store,
// the message must not say that the log will be shipped there. If the location has another history of this store, the message must
// name the command that takes the location over, and must not advise to empty the location.
func TestShippedWhen(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]string{
		repository.ErrOtherStore: "until the backup location of this store is available",
		repository.ErrElsewhere:  "until the backup location of this store is available",
		repository.ErrEmpty:      "shipped later",
		errLost:                  "shipped later",
	} {
		s := New(Options{TakeOver: "edgetable promote"})
		got := s.shippedWhen(fmt.Errorf("some: %w", err))
		if !strings.Contains(got, want) || strings.Contains(got, s.TakeOver) != (err == repository.ErrElsewhere) || strings.Contains(err.Error(), "empty it") {
			t.Errorf("%v: %s", err, got)
		}
	}
}

// TestContinueBehindBackup checks a server that made a backup and ended before it shipped any log. Its next start must ship
// the log that follows the backup, without a gap and without another backup.
func TestContinueBehindBackup(t *testing.T) {
	t.Parallel()
	s := newShipping(t)
	s.write("One")
	s.turn()
	s.write("Two")
	must.OK(t, s.store.Close())
	s.start()
	s.turn()
	list := s.pieces()
	if len(list) != 1 || s.bases != 1 {
		t.Fatalf("%d pieces, %d backups", len(list), s.bases)
	}
	p, commits, err := s.Place.ReadPiece(t.Context(), &list[0], nil)
	must.OK(t, err)
	if all, err := s.Place.List(t.Context()); err != nil || p.From != all.Complete[0].Log.Low || !p.StartsLog || len(commits) != 1 {
		t.Errorf("the piece has %d commits from %v on, begins %v; %v", len(commits), p.From, p.StartsLog, err)
	}
}

// TestIdleMoments checks which moments of an idle store can be restored: all moments up to the newest backup, and no later
// ones. Commit numbers are times. Even if the clock is set back, the next write must get a number after all these moments.
func TestIdleMoments(t *testing.T) {
	t.Parallel()
	const hour = 3600 * edm.TicksPerSecond
	s, now := newClocked(t)
	last := s.store.Durable()
	restores := func(moment, as edm.Ticks) {
		t.Helper()
		p, err := s.Place.PlanRestore(t.Context(), moment, "", "")
		if must.OK(t, err); p.To != as {
			t.Errorf("the state of %v, want that of %v", p.To, as)
		}
		if _, err := s.Place.PlanRestore(t.Context(), moment+hour, "", ""); err == nil {
			t.Error("nobody knows yet what happens an hour later")
		}
	}
	restores(last, last)
	*now += hour
	_, err := s.base(t.Context())
	must.OK(t, err)
	moment := *now
	restores(moment, last)
	if ranges, err := s.Place.Ranges(t.Context()); err != nil || len(ranges) != 1 || ranges[0][1] != moment {
		t.Errorf("%v, %v", ranges, err)
	}
	*now -= hour / 2
	s.write("Two")
	s.turn()
	if to := s.store.Durable(); to <= moment {
		t.Errorf("a commit has the number %v", to)
	}
	restores(moment, moment)
}

// TestPack checks that each commit is in exactly one piece of the shipped log, and that the size of pieces is bounded.
// Commits are added in steps, while the backup location responds and while it does not.
func TestPack(t *testing.T) {
	t.Parallel()
	s := newShipping(t)
	name := table.Name{Account: "acme", Table: "People"}
	must.OK(t, s.service().CreateTable(t.Context(), name))
	s.turn()
	var want []edm.Ticks
	value := edm.AppendProperty(nil, "Data", edm.Binary(make([]byte, 60_000)))
	for i := range 400 {
		n, err := s.store.Commit(t.Context(), name.Key(), []table.Mutation{{Kind: table.Put, Key: key.Append(nil, "p", fmt.Sprint(i)), Properties: value}})
		must.OK(t, err)
		want = append(want, n)
		s.away = i/100%3 == 1
		switch {
		case s.away && i%50 == 0:
			if err := s.Shipper.shipDurable(t.Context(), time.Minute); s.to < want[i] && !errors.Is(err, errLost) {
				t.Fatal(err)
			}
		case i%7 == 0 && s.sealed == nil:
			if _, err := s.pack(t.Context(), s.store.Durable()); err != nil && !errors.Is(err, errLost) {
				t.Fatal(err)
			}
		case i%200 == 0:
			s.turn()
		}
	}
	s.turn()
	list := s.pieces()
	var got []edm.Ticks
	for i := range list {
		if i > 0 && list[i].From != list[i-1].To {
			t.Errorf("a piece ends at %v, the next begins at %v", list[i-1].To, list[i].From)
		}
		p, commits, err := s.Place.ReadPiece(t.Context(), &list[i], nil)
		must.OK(t, err)
		if p.Length > pieceSize+pieceSize/2 {
			t.Errorf("a piece has %d bytes", p.Length)
		}
		for _, c := range commits {
			got = append(got, c.Number)
		}
	}
	if !slices.Equal(got, want) || len(list) < 4 || s.bases != 1 {
		t.Errorf("%d commits in %d pieces, want %d; %d backups", len(got), len(list), len(want), s.bases)
	}
}

// TestPause checks that the server ships one more piece of the log when writes pause, and then nothing. The piece contains a
// time. After this time is rounded down to seconds, the time must still be later than the reply to the last write.
func TestPause(t *testing.T) {
	t.Parallel()
	s := newShipping(t)
	now := time.Now()
	clock := func() time.Time { return now }
	s.now = clock
	s.turn()
	for range 2 {
		s.write(fmt.Sprint("Table", len(s.pieces())))
		begin, written := len(s.pieces()), now.Add(100*time.Millisecond) // the reply is later than the time in the log piece that contains the write
		for range 20 {
			s.turn()
			now = now.Add(300 * time.Millisecond)
		}
		list := s.pieces()
		if len(list) != begin+2 {
			t.Fatalf("%d pieces after %d", len(list), begin)
		}
		p, commits, err := s.Place.ReadPiece(t.Context(), &list[begin+1], nil)
		must.OK(t, err)
		if shown := p.Synced.Time().Truncate(time.Second); shown.Before(written) || len(commits) != 1 {
			t.Errorf("LastSyncTime is %v after %d commits; the write returned at %v", shown, len(commits), written)
		}
	}
	// The first upload of a piece of the log fails. During the second upload, a write arrives.
	s.write("First")
	s.away = true
	if err := s.Shipper.shipDurable(t.Context(), time.Minute); !errors.Is(err, errLost) {
		t.Fatal(err)
	}
	s.away = false
	s.upload = func() {
		now = now.Add(10 * time.Second)
		s.write("Second")
		s.upload = nil
	}
	s.turn()
	written := now
	for range 20 {
		s.turn()
		now = now.Add(300 * time.Millisecond)
	}
	list := s.pieces()
	p, _, err := s.Place.ReadPiece(t.Context(), &list[len(list)-1], nil)
	must.OK(t, err)
	if shown := p.Synced.Time().Truncate(time.Second); shown.Before(written) {
		t.Errorf("LastSyncTime is %v; a write during an upload returned at %v", shown, written)
	}

	must.OK(t, s.store.Close())
	s.start()
	s.now = clock
	before := len(s.pieces())
	for range 20 {
		s.turn()
		now = now.Add(300 * time.Millisecond)
	}
	if n := len(s.pieces()); n != before+1 { // a piece that the previous process may not have shipped
		t.Errorf("an idle server ships %d pieces after its start", n-before)
	}
}

// TestMissingCommits counts the commits that the backup location lacks. Empty commits do not count, whether this process
// or an earlier process made them.
func TestMissingCommits(t *testing.T) {
	t.Parallel()
	s := newShipping(t)
	now := time.Now()
	s.now = func() time.Time { return now }
	s.turn()
	s.write("Shipped")
	s.turn()
	shared := s.to
	s.away = true
	for range 3 {
		now = now.Add(time.Hour)
		_ = s.Shipper.shipDurable(t.Context(), time.Minute) // it makes an empty commit, and cannot ship the commit
	}
	if s.said == 0 {
		t.Fatal("there are no empty commits")
	}
	check := func() {
		t.Helper()
		r := &commitlog.Replaced{SharedUpTo: shared}
		s.count(r)
		if r.MissingCommits != 2 || r.MissingSince <= shared {
			t.Errorf("the location lacks %d commits, the first is %v, and the last shared commit is %v", r.MissingCommits, r.MissingSince, shared)
		}
	}
	s.write("One")
	s.write("Two")
	check()
	must.OK(t, s.store.Close())
	s.start()
	check()
}

// TestLateReply checks a write whose reply took half a minute. The server must ship another piece of the log, with a time
// after the reply. Then the server must ship nothing.
func TestLateReply(t *testing.T) {
	t.Parallel()
	s := newShipping(t)
	now := time.Now()
	s.now = func() time.Time { return now }
	s.turn()
	s.write("Slow")
	begin, written := len(s.pieces()), now.Add(30*time.Second)
	for range 60 {
		s.turn()
		now = now.Add(2 * time.Second)
	}
	list := s.pieces()
	p, _, err := s.Place.ReadPiece(t.Context(), &list[len(list)-1], nil)
	must.OK(t, err)
	if shown := p.Synced.Time().Truncate(time.Second); shown.Before(written) || len(list) != begin+3 {
		t.Errorf("LastSyncTime is %v after %d pieces; the write returned at %v", shown, len(list)-begin, written)
	}
}

// TestLevelAfterStart checks that a store allows no backup too early after its start. When a store is opened, the store skips
// some commit numbers, which then count as issued. No backup may be made before the shipped log covers the skipped numbers.
// Otherwise a secondary that has all commits would report that it lacks the skipped ones.
func TestLevelAfterStart(t *testing.T) {
	t.Parallel()
	s := newShipping(t)
	s.turn()
	s.write("One")
	s.turn()
	must.OK(t, s.store.Close())
	s.start()
	asked, now := 0, time.Now()
	s.Wake, s.now = func() { asked++ }, func() time.Time { return now }
	for range 3 {
		s.turn()
		if s.MayBackUp() || asked > 0 {
			t.Errorf("a backup before the log is allowed: %v; it was asked for %d", s.MayBackUp(), asked)
		}
	}
	now = now.Add(3 * time.Second)
	s.turn()
	s.turn()
	if asked != 1 || !s.MayBackUp() {
		t.Errorf("it has asked for %d backups", asked)
	}
	_, err := s.base(t.Context())
	must.OK(t, err)
	list := s.pieces()
	if gap, err := s.Place.FindGap(t.Context(), s.store.Timeline().ID, list[len(list)-1].To, edm.MaxDateTime, repository.Spans{}); err != nil || gap != nil {
		t.Errorf("without a write: %v, %v", gap, err)
	}
}

// pieces lists the pieces of the log in the backup location.
func (s *shipping) pieces() []repository.Piece {
	s.t.Helper()
	list, err := s.Place.Pieces(s.t.Context(), "")
	must.OK(s.t, err)
	return list
}

// TestCodec checks that a busy server compresses pieces of the log with S2, which takes less CPU time than zstd.
func TestCodec(t *testing.T) {
	t.Parallel()
	s := newShipping(t)
	now := time.Now()
	s.now = func() time.Time { return now }
	s.turn()
	var want []repository.Codec
	codec := repository.Zstd
	for i, passes := range []time.Duration{0, 0, time.Hour, 0, time.Hour, time.Hour} {
		s.write(fmt.Sprint("Table", i))
		now = now.Add(passes)
		s.turn()
		want = append(want, codec)
		if codec = repository.Zstd; passes == 0 { // the server adds many commits while its clock stands still, so it uses S2, which is faster than zstd
			codec = repository.S2
		}
	}
	var got []repository.Codec
	for _, named := range s.pieces() {
		p, commits, err := s.Place.ReadPiece(t.Context(), &named, nil)
		must.OK(t, err)
		if len(commits) != 1 {
			t.Errorf("a piece has %d commits", len(commits))
		}
		got = append(got, p.Codec)
	}
	if !slices.Equal(got, want) {
		t.Errorf("codecs %q, want %q", got, want)
	}
}
