package pebblestore_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
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

// shipping is a test fixture. It has a store whose log is read during writes, and the commits that
// were read so far.
type shipping struct {
	t      *testing.T
	fs     *vfs.MemFS
	store  *pebblestore.Store
	reader commitlog.Reader
	random *rand.Rand

	mu        sync.Mutex
	confirmed map[edm.Ticks]bool // numbers of the confirmed commits
	grown     *sync.Cond

	to      edm.Ticks // commits up to this number were read from the log
	commits []commitlog.Commit
}

func newShipping(t *testing.T, seed uint64) *shipping {
	s := &shipping{t: t, fs: vfs.NewCrashableMem(), random: rand.New(rand.NewPCG(seed, 3)), confirmed: map[edm.Ticks]bool{}}
	s.grown = sync.NewCond(&s.mu)
	s.start(s.fs)
	return s
}

func (s *shipping) options(fs vfs.FS) pebblestore.Options {
	return pebblestore.Options{Dir: "data", FS: fs, KeepLogs: 1 << 30, Fatal: func(err error) { s.t.Errorf("fatal: %v", err) }, Logf: s.t.Logf}.Small()
}

func (s *shipping) start(fs vfs.FS) {
	var err error
	s.store, err = pebblestore.Open(s.options(fs))
	must.OK(s.t, err)
	if since := s.store.Timeline().LogAfter; s.to == 0 {
		s.to = since
	} else if since > s.to {
		s.t.Fatalf("logs are kept since %v, but %v was read last", since, s.to)
	}
	s.reader = s.store.ReadLog(s.to)
	must.OK(s.t, create(s.t.Context(), s.store))
}

// load starts 32 goroutines that commit entities, and one that creates and drops a table. The goroutines end when
// the given context ends.
func (s *shipping) load(stop context.Context) (wait func()) {
	var g sync.WaitGroup
	for w := range 32 {
		g.Go(func() {
			for i := 0; stop.Err() == nil; i++ {
				m := []table.Mutation{{Kind: table.Put, Key: key.Append(nil, fmt.Sprint("p", w), fmt.Sprint(i%7)), Properties: edm.AppendProperty(nil, "N", edm.Int32(int32(i)))}}
				if i%5 == 4 {
					m = append(m, table.Mutation{Kind: table.Delete, Key: key.Append(nil, fmt.Sprint("p", w), fmt.Sprint((i+3)%7))})
				}
				n, err := s.store.Commit(s.t.Context(), people, m)
				if err != nil {
					s.t.Error(err)
					return
				}
				s.mu.Lock()
				s.confirmed[n] = true
				s.grown.Broadcast()
				s.mu.Unlock()
			}
		})
	}
	g.Go(func() {
		for i := byte(2); stop.Err() == nil; i++ {
			if old, err := s.store.ReadRecord(s.t.Context(), churned, table.Strong); err == nil {
				must.OK(s.t, s.store.Drop(s.t.Context(), churned, old.Revision))
			}
			_, err := s.store.WriteRecord(s.t.Context(), table.Record{Key: churned, Incarnation: table.Incarnation{9, i}})
			must.OK(s.t, err)
			_, err = s.store.Commit(s.t.Context(), churned, []table.Mutation{{Kind: table.Put, Key: key.Append(nil, "p", "r")}})
			must.OK(s.t, err)
		}
	})
	return g.Wait
}

// awaitCommits waits until n more commits are confirmed.
func (s *shipping) awaitCommits(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n += len(s.confirmed); len(s.confirmed) < n; {
		s.grown.Wait()
	}
}

// read reads all durable commits from the log, in several calls.
func (s *shipping) read() {
	s.t.Helper()
	s.mu.Lock()
	before := maps.Clone(s.confirmed)
	s.mu.Unlock()
	upTo, _, whole := s.store.AwaitDurable(s.t.Context(), time.Time{})
	if !whole {
		s.t.Fatal("commits do not settle")
	}
	for n := range before {
		if n > upTo {
			s.t.Fatalf("%v was confirmed, and the log is settled up to %v", n, upTo)
		}
	}
	for {
		list, from, to, err := s.reader.Next(upTo, 1+s.random.IntN(20_000))
		must.OK(s.t, err)
		if from != s.to {
			s.t.Fatalf("commits after %v follow those up to %v", from, s.to)
		}
		if len(list) == 0 {
			break
		}
		last := from
		for _, c := range list {
			if c.Number <= last || c.Number > to {
				s.t.Fatalf("number %d after %d in (%d, %d]", c.Number, last, from, to)
			}
			last = c.Number
			s.commits = append(s.commits, commitlog.Commit{Number: c.Number, Record: slices.Clone(c.Record)})
		}
		s.to = to
		if s.random.IntN(3) > 0 {
			must.OK(s.t, s.reader.Shipped(to))
		}
	}
	have := map[edm.Ticks]bool{}
	for _, c := range s.commits {
		have[c.Number] = true
	}
	for n := range before {
		if !have[n] {
			s.t.Fatalf("%d was confirmed, but is not in the log up to %d", n, s.to)
		}
	}
}

// crash simulates a power failure during writes and starts the store again. The next call of read checks that the
// commits that were confirmed before the failure exist.
func (s *shipping) crash(end, wait func()) {
	s.mu.Lock()
	confirmed := maps.Clone(s.confirmed)
	s.mu.Unlock()
	s.fs = s.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: s.random.IntN(101), RNG: s.random})
	end()
	wait()
	must.OK(s.t, s.store.Close())
	s.confirmed = confirmed
	s.start(s.fs)
}

// same compares the store with a replay of the commits that were read from the log. Both must have the same
// content.
func (s *shipping) same() {
	s.t.Helper()
	other := open(s.t, pebblestore.Options{Dir: "other", FS: vfs.NewMem(), Logf: s.t.Logf}.Small())
	for list := s.commits; len(list) > 0; {
		n := 1 + s.random.IntN(len(list))
		must.OK(s.t, other.Replay(s.t.Context(), commitlog.Position{Timeline: "t", Number: list[n-1].Number}, list[:n]))
		list = list[n:]
	}
	for _, k := range []table.RecordKey{people, churned} {
		want, err := s.store.Scan(s.t.Context(), k, table.ScanRequest{Ranges: []key.Range{{}}})
		got, err2 := other.Scan(s.t.Context(), k, table.ScanRequest{Ranges: []key.Range{{}}})
		if fmt.Sprint(err) != fmt.Sprint(err2) || fmt.Sprint(want.Rows) != fmt.Sprint(got.Rows) {
			s.t.Fatalf("%s: %d rows, %v; want %d, %v", k, len(got.Rows), err2, len(want.Rows), err)
		}
	}
}

func kept(s *pebblestore.Store) int64 {
	_, n := s.LogWritten()
	return n
}

// TestReadLog reads the log during writes, across crashes and clean restarts. It checks that each confirmed commit
// is read once, in the order of the commit numbers. A replay of the commits must give the same tables.
func TestReadLog(t *testing.T) {
	t.Parallel()
	rounds := 10
	if testing.Short() {
		rounds = 3
	}
	for seed := range uint64(rounds) {
		s := newShipping(t, seed)
		for range 3 {
			stop, end := context.WithCancel(t.Context())
			wait := s.load(stop)
			for range 1 + s.random.IntN(6) {
				s.awaitCommits(s.random.IntN(400))
				s.read()
			}
			if s.random.IntN(2) == 0 {
				s.awaitCommits(s.random.IntN(100))
				s.crash(end, wait)
				continue
			}
			end()
			wait()
			if s.random.IntN(2) == 0 {
				s.read() // if this read is omitted, the first read after the restart returns the remaining commits
			}
			must.OK(t, s.store.Close())
			s.start(s.fs)
		}
		s.read()
		s.same()
		t.Logf("%d commits, %d bytes kept", len(s.commits), kept(s.store))
		must.OK(t, s.store.Close())
	}
}

// TestKeepLogs checks that the kept logs are removed when they exceed the limit. The remaining logs must then have
// every commit with a number higher than Timeline.Since.
func TestKeepLogs(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	o := pebblestore.Options{Dir: "data", FS: fs, KeepLogs: 300 << 10, Logf: t.Logf}.Small()
	s := open(t, o)
	must.OK(t, create(t.Context(), s))
	began := s.Timeline().LogAfter
	if began == 0 {
		t.Fatal("logs are not kept")
	}
	value := edm.AppendProperty(nil, "V", edm.Binary(make([]byte, 10_000)))
	var last edm.Ticks
	write := func(n int) {
		for range n {
			var err error
			last, err = s.Commit(t.Context(), people, []table.Mutation{{Kind: table.Put, Key: key.Append(nil, "p", "r"), Properties: value}})
			must.OK(t, err)
		}
	}
	write(200)
	since := s.Timeline().LogAfter
	if since == began {
		t.Fatal("2 MB of logs are kept, more than the limit")
	}
	// The remaining logs must contain every commit with a number above Timeline.Since.
	upTo, _, _ := s.AwaitDurable(t.Context(), time.Time{})
	reader, n, to := s.ReadLog(since), 0, since
	for {
		list, _, end, err := reader.Next(upTo, 1<<20)
		must.OK(t, err)
		if len(list) == 0 {
			break
		}
		n, to = n+len(list), end
		must.OK(t, reader.Shipped(to))
	}
	if n == 0 || to != upTo || to < last {
		t.Errorf("%d commits up to %v, want up to %v", n, to, upTo)
	}
	if _, kept := s.LogWritten(); kept > 0 {
		t.Errorf("%d bytes are kept that are shipped", kept)
	}
}

// TestReplayAtOnce reads pages during calls of Replay. It checks that each page shows the state between two calls,
// and never a part of the changes of a call.
func TestReplayAtOnce(t *testing.T) {
	t.Parallel()
	from := open(t, pebblestore.Options{Dir: "data", FS: vfs.NewMem(), KeepLogs: 1 << 30, Logf: t.Logf})
	must.OK(t, create(t.Context(), from))
	for i := range 300 {
		var m []table.Mutation
		for r := range 10 {
			m = append(m, table.Mutation{Kind: table.Put, Key: key.Append(nil, fmt.Sprint(i%3), fmt.Sprint(r)), Properties: edm.AppendProperty(nil, "N", edm.Int32(int32(i)))})
		}
		_, err := from.Commit(t.Context(), people, m)
		must.OK(t, err)
	}
	upTo, _, _ := from.AwaitDurable(t.Context(), time.Time{})
	list, _, _, err := from.ReadLog(0).Next(upTo, 1<<30)
	must.OK(t, err)
	to := open(t, pebblestore.Options{Dir: "other", FS: vfs.NewMem(), Logf: t.Logf})
	allowed := map[string]bool{"[]": true}
	var ended atomic.Bool
	var g sync.WaitGroup
	var pages []string
	g.Go(func() {
		for !ended.Load() {
			p, err := to.Scan(t.Context(), people, table.ScanRequest{Ranges: []key.Range{{}}})
			if err == nil {
				pages = append(pages, fmt.Sprint(p.Rows))
			}
		}
	})
	for len(list) > 0 {
		n := min(7, len(list))
		must.OK(t, to.Replay(t.Context(), commitlog.Position{Timeline: "t", Number: list[n-1].Number}, list[:n]))
		list = list[n:]
		p, err := to.Scan(t.Context(), people, table.ScanRequest{Ranges: []key.Range{{}}})
		must.OK(t, err)
		allowed[fmt.Sprint(p.Rows)] = true
	}
	ended.Store(true)
	g.Wait()
	for _, p := range pages {
		if !allowed[p] {
			t.Fatal("a page shows a state between two calls")
		}
	}
	p, ok, err := to.Position()
	if err != nil || !ok || p.Number == 0 {
		t.Errorf("%v, %v, %v", p, ok, err)
	}
}
