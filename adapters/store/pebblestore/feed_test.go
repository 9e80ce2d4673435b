package pebblestore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/adapters/store/pebblestore"
	"edgetable/core/commitlog"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

// createFeeding creates the table people with a change feed.
func createFeeding(t testing.TB, s *pebblestore.Store) {
	t.Helper()
	_, err := s.WriteRecord(t.Context(), table.Record{Key: people, Incarnation: table.Incarnation{1}, Traits: &table.Traits{Feed: &table.Feed{Keep: 1 << 50}}})
	must.OK(t, err)
}

func putRow(t testing.TB, s *pebblestore.Store, row string, n int) edm.Ticks {
	t.Helper()
	ticks, err := s.Commit(t.Context(), people, []table.Mutation{{Key: key.Append(nil, "p", row), Nonce: 1, Properties: edm.AppendProperty(nil, "N", edm.Int32(int32(n)))}})
	must.OK(t, err)
	return ticks
}

// endOfFeed returns the position at the end of the change feed of the table people.
func endOfFeed(t testing.TB, s *pebblestore.Store) *table.FeedPosition {
	t.Helper()
	page, err := s.Changes(t.Context(), people, table.FeedRequest{})
	must.OK(t, err)
	return &page.Next
}

func expectFeed(t testing.TB, what string, s *pebblestore.Store, from *table.FeedPosition, want ...string) {
	t.Helper()
	page, err := s.Changes(t.Context(), people, table.FeedRequest{From: from})
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	var got []string
	for _, c := range page.Commits {
		for _, change := range c.Changes {
			_, row := key.Decode(change.Key)
			got = append(got, row)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
		return
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
}

func expectHistory(t testing.TB, what string, s *pebblestore.Store, from *table.FeedPosition) {
	t.Helper()
	if page, err := s.Changes(t.Context(), people, table.FeedRequest{From: from}); !errors.Is(err, table.ErrHistory) {
		t.Errorf("%s: %+v, %v, want %v", what, page, err, table.ErrHistory)
	}
}

// TestFeedAfterPromotion checks which positions in a change feed a store accepts after its promotion. The store has
// replayed the log of another store, and must accept that store's positions only up to the last replayed commit.
func TestFeedAfterPromotion(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	o := pebblestore.Options{Dir: "primary", FS: fs, Logf: t.Logf, KeepLogs: 1 << 30}
	primary := open(t, o)
	createFeeding(t, primary)
	putRow(t, primary, "a", 1)
	shared := endOfFeed(t, primary)
	putRow(t, primary, "b", 1)
	must.OK(t, primary.Checkpoint(t.Context(), "secondary"))
	number := primary.Durable()
	atNumber := endOfFeed(t, primary)
	putRow(t, primary, "lost", 1)
	lost := endOfFeed(t, primary)

	o.Dir = "secondary"
	secondary := open(t, o)
	must.OK(t, secondary.Replay(t.Context(), commitlog.Position{Timeline: "t", Number: number}, nil))
	expectFeed(t, "the secondary", secondary, shared, "b")
	expectFeed(t, "a position that the secondary has not reached", secondary, lost)
	must.OK(t, secondary.Promote(number+edm.TicksPerSecond, 0, ""))
	putRow(t, secondary, "c", 1)
	expectFeed(t, "a position of before", secondary, shared, "b", "c")
	expectFeed(t, "the last position that both have", secondary, atNumber, "c")
	expectHistory(t, "a position of a lost commit", secondary, lost)
	again := endOfFeed(t, secondary)
	putRow(t, secondary, "d", 1)
	expectFeed(t, "a position of the new primary", secondary, again, "d")
	expectHistory(t, "the same at the old one", primary, again)
}

// TestFeedOfLostContent checks a client whose page lacks the content of an entity, because a later commit has changed the
// entity. After a promotion without the later commit, no event would bring the content. So the position of the client must
// be refused, although the promoted store has all commits before it. It must also be refused if the client has asked the
// secondary before the promotion.
func TestFeedOfLostContent(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	o := pebblestore.Options{Dir: "primary", FS: fs, Logf: t.Logf, KeepLogs: 1 << 30}
	now := edm.TicksOf(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	o.Now = func() edm.Ticks { return now }
	primary := open(t, o)
	createFeeding(t, primary)
	begin := endOfFeed(t, primary)
	putRow(t, primary, "a", 1)
	must.OK(t, primary.Checkpoint(t.Context(), "secondary"))
	log := primary.ReadLog(primary.Durable())
	now += 10 * edm.TicksPerSecond
	putRow(t, primary, "b", 1)
	commits, _, number, err := log.Next(primary.Durable(), 1<<20)
	must.OK(t, err)
	now += 10 * edm.TicksPerSecond
	early, err := primary.Changes(t.Context(), people, table.FeedRequest{From: begin, Changes: 1})
	must.OK(t, err)
	putRow(t, primary, "a", 2)
	late, err := primary.Changes(t.Context(), people, table.FeedRequest{From: begin, Changes: 1})
	must.OK(t, err)
	if early.Commits[0].Changes[0].Row == nil || late.Commits[0].Changes[0].Row != nil {
		t.Fatalf("the rows are %v and %v", early.Commits[0].Changes[0].Row, late.Commits[0].Changes[0].Row)
	}
	expectFeed(t, "the primary", primary, &late.Next, "b", "a")
	o.Dir = "secondary"
	secondary := open(t, o)
	must.OK(t, secondary.Replay(t.Context(), commitlog.Position{Timeline: "t", Number: number}, commits))
	behind, err := secondary.Changes(t.Context(), people, table.FeedRequest{From: &late.Next})
	must.OK(t, err)
	must.OK(t, secondary.Promote(number+edm.TicksPerSecond, 0, ""))
	expectHistory(t, "a page without the content", secondary, &late.Next)
	expectHistory(t, "a page without the content, and then a page of the secondary", secondary, &behind.Next)
	expectFeed(t, "a page with the content", secondary, &early.Next, "b")
}

// TestFeedOfSecondaryAfterStart checks a secondary that was just opened. Its database reserves commit numbers that the
// primary has not yet issued. The client of a feed must not skip the commits that get these numbers later.
func TestFeedOfSecondaryAfterStart(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	o := pebblestore.Options{Dir: "primary", FS: fs, Logf: t.Logf, KeepLogs: 1 << 30}
	now := edm.TicksOf(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	o.Now = func() edm.Ticks { return now }
	primary := open(t, o)
	createFeeding(t, primary)
	from := endOfFeed(t, primary)
	putRow(t, primary, "a", 1)
	must.OK(t, primary.Checkpoint(t.Context(), "secondary"))
	number := primary.Durable()
	putRow(t, primary, "b", 1)
	log := primary.ReadLog(number)
	commits, _, to, err := log.Next(primary.Durable(), 1<<20)
	must.OK(t, err)
	o.Dir = "secondary"
	secondary, err := pebblestore.Open(o)
	must.OK(t, err)
	must.OK(t, secondary.Replay(t.Context(), commitlog.Position{Timeline: "t", Number: number}, nil))
	must.OK(t, secondary.Close())
	secondary = open(t, o)
	page, err := secondary.Changes(t.Context(), people, table.FeedRequest{From: from})
	must.OK(t, err)
	must.OK(t, secondary.Replay(t.Context(), commitlog.Position{Timeline: "t", Number: to}, commits))
	expectFeed(t, "the secondary", secondary, &page.Next, "b")
}

// TestFeedOfARestore checks that a restored store refuses the positions of the original store, also those of commits that
// both have: the original may have shown the effect of later commits. A store that replays the log of the restored one
// must refuse them too, before any client of the restored store has requested changes.
func TestFeedOfARestore(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	o := pebblestore.Options{Dir: "original", FS: fs, Logf: t.Logf, KeepLogs: 1 << 30}
	original := open(t, o)
	createFeeding(t, original)
	putRow(t, original, "a", 1)
	must.OK(t, original.Checkpoint(t.Context(), "restored"))
	number := original.Durable()
	from := endOfFeed(t, original)

	o.Dir = "restored"
	restored, err := pebblestore.Open(o)
	must.OK(t, err)
	must.OK(t, restored.Replay(t.Context(), commitlog.Position{Timeline: "t", Number: number}, nil))
	must.OK(t, restored.Promote(number+edm.TicksPerSecond, 0, ""))
	must.OK(t, restored.LeaveHistory())
	must.OK(t, restored.Close())
	restored = open(t, o)
	must.OK(t, restored.RenewHistory(t.Context()))
	must.OK(t, restored.Checkpoint(t.Context(), "follower"))
	o.Dir = "follower"
	follower := open(t, o)
	must.OK(t, follower.Replay(t.Context(), commitlog.Position{Timeline: "u", Number: restored.Durable()}, nil))
	expectHistory(t, "the follower", follower, from)
	expectHistory(t, "the restored store", restored, from)
	again := endOfFeed(t, restored)
	putRow(t, restored, "b", 1)
	expectFeed(t, "a position of the restored store", restored, again, "b")
}

// TestFeedOfACopy checks that a copy of a checkpoint refuses change feed positions of the original store, even if both
// stores have issued the same commit numbers.
func TestFeedOfACopy(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	o := pebblestore.Options{Dir: "one", FS: fs, Logf: t.Logf}
	one := open(t, o)
	createFeeding(t, one)
	from := endOfFeed(t, one)
	putRow(t, one, "a", 1)
	must.OK(t, one.Checkpoint(t.Context(), "copy"))
	o.Dir = "copy"
	copied := open(t, o)
	expectHistory(t, "the copy", copied, from)
	expectFeed(t, "the first one", one, from, "a")
	end := endOfFeed(t, copied)
	putRow(t, copied, "b", 1)
	expectFeed(t, "the copy goes on", copied, end, "b")
}

// TestFeedAfterAPowerCut checks that after a power failure the store still has every change that the change feed has
// shown, and that the feed shows no lost change. A client reads the feed during writes, before and after the power
// failure. At the end the client must have the content of the table.
func TestFeedAfterAPowerCut(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		fs := vfs.NewCrashableMem()
		o := pebblestore.Options{Dir: "data", FS: fs, Logf: t.Logf, Fatal: func(error) {}}
		s, err := pebblestore.Open(o)
		must.OK(t, err)
		createFeeding(t, s)
		from := endOfFeed(t, s)
		state := map[string]edm.Ticks{}
		follow := func(s *pebblestore.Store) {
			for {
				page, err := s.Changes(t.Context(), people, table.FeedRequest{From: from, Changes: 3})
				must.OK(t, err)
				for _, c := range page.Commits {
					for _, change := range c.Changes {
						_, row := key.Decode(change.Key)
						if change.Kind == table.Delete {
							delete(state, row)
						} else if change.Row != nil {
							state[row] = change.Row.Timestamp
						}
					}
				}
				from = &page.Next
				if !page.More {
					return
				}
			}
		}
		rnd := rand.New(rand.NewPCG(seed, 3))
		done := make(chan struct{})
		go func() {
			defer close(done)
			for n := range 200 {
				m := table.Mutation{Key: key.Append(nil, "p", string(rune('a'+rnd.IntN(5)))), Nonce: 1, Properties: edm.AppendProperty(nil, "N", edm.Int32(int32(n)))}
				if rnd.IntN(4) == 0 {
					m = table.Mutation{Key: m.Key, Kind: table.Delete, Condition: table.Present}
				}
				_, _ = s.Commit(t.Context(), people, []table.Mutation{m})
			}
		}()
		for range 1 + seed%7 {
			follow(s)
		}
		cut := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: int(seed*17) % 101, RNG: rnd2(seed)})
		<-done
		must.OK(t, s.Close())
		o.FS = cut
		s, err = pebblestore.Open(o)
		must.OK(t, err)
		follow(s)
		page, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: []key.Range{{}}})
		must.OK(t, err)
		if len(page.Rows) != len(state) {
			t.Errorf("seed %d: the follower has %v, the table %d rows", seed, state, len(page.Rows))
		}
		for _, row := range page.Rows {
			if _, r := key.Decode(row.Key); state[r] != row.Timestamp {
				t.Errorf("seed %d: %s is of %d, the follower has that of %d", seed, r, row.Timestamp, state[r])
			}
		}
		must.OK(t, s.Close())
	}
}

func rnd2(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 4)) }

// TestFeedAfterAcceptedDamage checks that a store that has accepted damage refuses earlier positions in a change feed.
func TestFeedAfterAcceptedDamage(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	o := pebblestore.Options{Dir: "data", FS: fs, Logf: t.Logf, Fatal: func(error) {}}
	s, err := pebblestore.Open(o)
	must.OK(t, err)
	createFeeding(t, s)
	from := endOfFeed(t, s)
	putRow(t, s, "a", 1)
	must.OK(t, s.Close())
	s, err = pebblestore.Open(o)
	must.OK(t, err)
	expectFeed(t, "after a start", s, from, "a")
	must.OK(t, s.Close())
	o.AcceptDamage = true
	expectHistory(t, "after accepted damage", open(t, o), from)
}

// heldLogs is a file system on which syncs of logs wait while held is set.
type heldLogs struct {
	vfs.FS
	mu   sync.Mutex
	held chan struct{} // syncs wait until this channel is closed; nil if syncs do not wait
}

func (h *heldLogs) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := h.FS.Create(name, c)
	if err == nil && strings.HasSuffix(name, ".log") {
		f = heldLog{f, h}
	}
	return f, err
}

func (h *heldLogs) wait() {
	h.mu.Lock()
	held := h.held
	h.mu.Unlock()
	if held != nil {
		<-held
	}
}

type heldLog struct {
	vfs.File
	of *heldLogs
}

func (f heldLog) Sync() error     { f.of.wait(); return f.File.Sync() }
func (f heldLog) SyncData() error { f.of.wait(); return f.File.SyncData() }
func (f heldLog) SyncTo(n int64) (bool, error) {
	f.of.wait()
	return f.File.SyncTo(n)
}

// notifyContext is a context that calls a function when a caller begins to wait for the end of the context.
type notifyContext struct {
	context.Context
	once func()
}

func (a notifyContext) Done() <-chan struct{} {
	a.once()
	return a.Context.Done()
}

// TestFeedWaitsForLaterWrites checks a change of an entity that a later commit has overwritten. Changes returns this
// change without content. So the reply must wait until the later commit is durable. Otherwise a power failure could
// lose the later content, and the client would have neither the older nor the later content.
func TestFeedWaitsForLaterWrites(t *testing.T) {
	t.Parallel()
	fs := &heldLogs{FS: vfs.NewMem()}
	var ticks atomic.Int64
	var issues atomic.Pointer[func()] // called when a commit gets its number
	ticks.Store(1 << 59)
	s := open(t, pebblestore.Options{Dir: "data", FS: fs, Logf: t.Logf, Now: func() edm.Ticks {
		if issue := issues.Load(); issue != nil {
			(*issue)()
		}
		return edm.Ticks(ticks.Add(1))
	}})
	createFeeding(t, s)
	from := endOfFeed(t, s)
	putRow(t, s, "a", 1)
	issued := make(chan struct{})
	issues.Store(new(sync.OnceFunc(func() { close(issued) })))
	held := make(chan struct{})
	fs.mu.Lock()
	fs.held = held
	fs.mu.Unlock()
	written := make(chan error, 1)
	go func() {
		_, err := s.Commit(t.Context(), people, []table.Mutation{{Key: key.Append(nil, "p", "a"), Nonce: 2}})
		written <- err
	}()
	<-issued
	s.Applied()
	waits, answered := make(chan struct{}), make(chan table.FeedPage, 1)
	go func() {
		page, err := s.Changes(notifyContext{t.Context(), sync.OnceFunc(func() { close(waits) })}, people, table.FeedRequest{From: from})
		if err != nil {
			t.Error(err)
		}
		answered <- page
	}()
	select {
	case <-waits:
	case page := <-answered:
		t.Errorf("the feed shows %+v before the later write is durable", page)
		answered <- page
	}
	close(held)
	must.OK(t, <-written)
	if page := <-answered; len(page.Commits) != 1 || page.Commits[0].Changes[0].Row != nil {
		t.Errorf("the page has %+v, want one change without content", page)
	}
	expectFeed(t, "all", s, from, "a", "a")
}

// feedBench opens a store with a table. If feed is true, the table has a change feed.
func feedBench(b *testing.B, feed bool) *pebblestore.Store {
	s := open(b, pebblestore.Options{Dir: b.TempDir(), Logf: b.Logf})
	if feed {
		createFeeding(b, s)
	} else {
		must.OK(b, create(b.Context(), s))
	}
	return s
}

// BenchmarkFeedInsert inserts entities of 1 KiB from 64 goroutines, one by one and in batches of 100, into a table
// with a change feed and into a table without one.
func BenchmarkFeedInsert(b *testing.B) {
	properties := edm.AppendProperty(nil, "Text", edm.String(strings.Repeat("x", 1000)))
	for _, batch := range []int{1, 100} {
		for _, feed := range []bool{false, true, false, true} {
			b.Run(fmt.Sprintf("batch=%d/feed=%v", batch, feed), func(b *testing.B) {
				s := feedBench(b, feed)
				var n atomic.Int64
				b.SetParallelism(64)
				b.ResetTimer()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						p := fmt.Sprintf("p%08d", n.Add(1))
						m := make([]table.Mutation, batch)
						for i := range m {
							m[i] = table.Mutation{Key: key.Append(nil, p, fmt.Sprintf("r%03d", i)), Condition: table.Absent, Nonce: 1, Properties: properties}
						}
						if _, err := s.Commit(b.Context(), people, m); err != nil {
							b.Error(err)
						}
					}
				})
				b.ReportMetric(float64(b.N*batch)/b.Elapsed().Seconds(), "entities/s")
			})
		}
	}
}

// BenchmarkFeedRead reads the change feed of 100,000 inserts of 1 KiB in pages of 1,000 inserts.
func BenchmarkFeedRead(b *testing.B) {
	s := feedBench(b, true)
	properties := edm.AppendProperty(nil, "Text", edm.String(strings.Repeat("x", 1000)))
	const events = 100_000
	m := make([]table.Mutation, 100)
	for n := range events / len(m) {
		for i := range m {
			m[i] = table.Mutation{Key: key.Append(nil, fmt.Sprintf("p%08d", n), fmt.Sprintf("r%03d", i)), Nonce: 1, Properties: properties}
		}
		_, err := s.Commit(b.Context(), people, m)
		must.OK(b, err)
	}
	for b.Loop() {
		r, read := table.FeedRequest{Oldest: true, Changes: 1000}, 0
		for more := true; more; {
			page, err := s.Changes(b.Context(), people, r)
			must.OK(b, err)
			for _, c := range page.Commits {
				read += len(c.Changes)
			}
			r.From, more = &page.Next, page.More
		}
		if read != events {
			b.Fatalf("%d events", read)
		}
	}
	b.ReportMetric(float64(events*b.N)/b.Elapsed().Seconds(), "events/s")
}
