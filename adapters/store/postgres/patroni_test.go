package postgres_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"edgetable/adapters/store/postgres"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/storetest"
	"edgetable/core/table"
	"edgetable/testdata/must"
	"edgetable/testdata/needs"
	"edgetable/testdata/postgres/local"
)

var kills = flag.Int("kills", 2, "how often TestPatroni kills the primary")

// TestPatroni runs three PostgreSQL servers with Patroni and etcd, and kills the primary again and
// again. Meanwhile clients of two stores write, and others record histories of reads and writes. The
// kinds of failures alternate:
//
//   - one process of the primary is killed;
//   - all its processes are killed, so that it restarts in place;
//   - its whole node is killed;
//   - its node is killed as soon as it answers after a restart in place, before its standby is back.
//
// At the end, the test freezes the node of the primary until another node is the primary, and then
// resumes it. Histories must be linearizable, no read may return an older state than an earlier
// read, no client may get an error, and every acknowledged write must be stored once. Consumers of a
// feed must see each change of an entity once and in order, and must end with the content of the
// table. They must list the table again after each promotion, and only then.
//
// No history is recorded while a node is frozen. Until Patroni on that node runs again, the old
// primary would answer reads as if it were still the primary, see docs/postgres.md.
func TestPatroni(t *testing.T) {
	needs.These(t, needs.Patroni)
	t.Parallel()
	p, err := local.NewPatroni()
	must.OK(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(p.Log())
		}
		must.OK(t, p.Remove())
	})
	o := postgres.Options{DSN: p.DSN(), Schema: local.Name(), PurgeEvery: 50 * time.Millisecond}
	stores := []*postgres.Store{openSoon(t, o), openSoon(t, o)}
	load := startLoad(t, stores...)
	registers := startRegisters(t, stores...)
	feeds := startFollowing(t, stores...)
	timeline := func() int64 {
		n, err := strconv.ParseInt(askAt(t, p.DSN(), "SELECT timeline_id FROM pg_control_checkpoint()"), 10, 64)
		must.OK(t, err)
		return n
	}
	since := timeline()
	nodes := int64(0)

	took := make(map[string][]time.Duration)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range *kills {
			load.works(t)
			n := p.Primary()
			kind, kill := "server killed", n.KillServer
			inPlace := func() error { return p.KillBackend(t.Context(), n) }
			switch {
			case i%3 == 1:
				kind, kill = "node killed", n.Kill
			case i%3 == 2:
				kind, kill = "node killed after a restart", func() error { return errors.Join(inPlace(), n.Kill()) }
			case i%2 == 1:
				kind, kill = "process killed", inPlace
			}
			begin := time.Now()
			must.OK(t, kill())
			took[kind] = append(took[kind], load.next(t).Sub(begin))
			t.Logf("%s: %.1f s; %d writes acknowledged so far", kind, time.Since(begin).Seconds(), load.acked.Load())
			if strings.HasPrefix(kind, "node") {
				nodes++
				must.OK(t, n.Start())
			}
			must.OK(t, p.Complete())
			load.present(t)
			feeds.awaitCommits(t)
		}
	}()
	var unknown atomic.Int64
	for over := false; !over; {
		storetest.Concurrency(t, func(t testing.TB, now func() edm.Ticks) storetest.Fixture {
			o := postgres.Options{DSN: p.DSN(), Schema: local.Name()}
			share := func(now func() edm.Ticks) table.Store {
				o := o
				o.Now = now
				s := openSoon(t, o)
				t.Cleanup(func() { unknown.Add(s.Metrics().Unknown) })
				return s
			}
			return storetest.Fixture{Store: share(now), Strengths: storetest.Home("PostgreSQL"), Share: share, Remote: true, Lossy: true}
		})
		select {
		case <-done:
			over = true
		default:
		}
	}
	t.Logf("%d outcomes are unknown in the histories, whose clients write the same entities and tables", unknown.Load())
	load.works(t)
	registers.stop(t) // stops the clients that read: while its node is frozen, the old primary would answer reads
	feeds.awaitCommits(t)
	if least, most := feeds.refused(); least < nodes || most > timeline()-since {
		t.Errorf("consumers of the feed began again %d to %d times: %d nodes were killed, and another one was promoted %d times", least, most, nodes, timeline()-since)
	}
	n := p.Primary()
	begin := time.Now()
	must.OK(t, n.Freeze())
	took["node frozen"] = []time.Duration{load.next(t).Sub(begin)}
	must.OK(t, n.Thaw())
	must.OK(t, p.Complete())
	load.works(t)
	load.stop(t)
	feeds.awaitCommits(t)
	feeds.stop(t)
	if least, _ := feeds.refused(); least < nodes+1 {
		t.Errorf("a consumer of the feed began again %d times, and %d nodes were killed or frozen", least, nodes+1)
	}
	for kind, list := range took {
		slices.Sort(list)
		t.Logf("%s %d times: a write was acknowledged again after %.1f to %.1f s, half of them within %.1f s",
			kind, len(list), list[0].Seconds(), list[len(list)-1].Seconds(), list[len(list)/2].Seconds())
	}
}

// TestPatroniLoses checks that the checks of TestPatroni can fail. Here, writes do not wait for a
// standby, so a failover loses the writes that no standby has. The check for acknowledged writes
// must detect this loss. The test also shows why a consumer of a feed must list the table again
// after the failover. A consumer that lists the table again ends with the content of the table. A
// consumer that does not list the table again keeps a lost entity.
func TestPatroniLoses(t *testing.T) {
	needs.These(t, needs.Patroni)
	p, err := local.NewAsynchronous()
	must.OK(t, err)
	t.Cleanup(func() { must.OK(t, p.Remove()) })
	must.OK(t, p.Complete())
	load := startLoad(t, openSoon(t, postgres.Options{DSN: p.DSN(), Schema: local.Name()}))
	load.works(t)
	createOrders(t, load.stores[0])
	put := func(name string) []byte {
		k := row("p", name)
		_, err := load.stores[0].Commit(t.Context(), orders, []table.Mutation{{Key: k, Nonce: 1, Properties: text(name)}})
		must.OK(t, err)
		return k
	}
	follower, stubborn := &consumer{stores: load.stores}, &consumer{stores: load.stores, stubborn: true}
	var reading sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	await := func(what string, so func(c *consumer) bool) {
		wait(t, what, func() bool { return so(follower) && so(stubborn) })
	}
	for _, c := range []*consumer{follower, stubborn} {
		reading.Go(func() {
			if err := c.follow(ctx); err != nil {
				t.Errorf("a consumer of the feed: %v", err)
			}
		})
	}
	kept := put("kept")
	await("the consumers have an entity", func(c *consumer) bool { return c.has(kept) })
	now := askAt(t, p.DSN(), "SELECT pg_current_wal_lsn()")
	wait(t, "the standbys have the table", func() bool {
		return askAt(t, p.DSN(), "SELECT count(*) = 2 AND bool_and(replay_lsn >= $1::pg_lsn) FROM pg_stat_replication", now) == "true"
	})
	n := p.Primary()
	must.OK(t, n.StopSending())
	load.works(t) // these writes are acknowledged, but no standby gets them
	lost := put("lost")
	await("the consumers have the entity that will be lost", func(c *consumer) bool { return c.has(lost) })
	must.OK(t, n.KillServer())
	load.next(t)
	load.end()
	await("the consumers are told to begin again", func(c *consumer) bool {
		put("after") // a consumer may be waiting for a change
		return c.refused.Load() > 0
	})
	stop()
	reading.Wait()
	if n := follower.differs(t); n > 0 || follower.has(lost) {
		t.Errorf("a consumer that began again differs from the table in %d entities", n)
	}
	if n := stubborn.differs(t); n == 0 || !stubborn.has(lost) {
		t.Error("a consumer that did not begin again has what the table has, so the test shows nothing")
	}
	missing, acked := load.missing(t)
	t.Logf("%d of %d acknowledged writes are missing", missing, acked)
	if missing == 0 {
		t.Error("the check does not find that acknowledged writes are lost")
	}
}

// openSoon creates the schema and opens a store, as soon as there is a primary.
func openSoon(t testing.TB, o postgres.Options) (s *postgres.Store) {
	o.Connections, o.Timeout = 8, 2*time.Minute
	wait(t, "a primary can be reached", func() bool {
		_, err := postgres.Migrate(t.Context(), o, true)
		if err == nil {
			s, err = postgres.Open(t.Context(), o)
		}
		return err == nil
	})
	t.Cleanup(func() { s.Close() })
	return s
}

// load contains clients that insert entities until they are stopped.
type load struct {
	stores []*postgres.Store
	ended  chan struct{}
	all    sync.WaitGroup

	mu              sync.Mutex
	keys            map[string]bool // keys of the acknowledged inserts
	acked           atomic.Int64
	unknown, failed atomic.Int64
}

func startLoad(t testing.TB, stores ...*postgres.Store) *load {
	create(t, stores[0])
	l := &load{stores: stores, ended: make(chan struct{}), keys: make(map[string]bool)}
	for id := range 8 {
		l.all.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-l.ended:
					return
				default:
				}
				k := row("p", fmt.Sprint(id, "-", i))
				_, err := stores[id%len(stores)].Commit(context.Background(), people, []table.Mutation{{Key: k, Nonce: 1, Condition: table.Absent, Properties: text("once")}})
				switch {
				case err == nil:
					l.mu.Lock()
					l.keys[string(k)] = true
					l.mu.Unlock()
					l.acked.Add(1)
				case errors.Is(err, table.ErrUnknown):
					l.unknown.Add(1)
				case errors.Is(err, table.ErrBusy):
					l.failed.Add(1)
				default:
					t.Errorf("insert %q: %v", k, err)
				}
			}
		})
	}
	return l
}

func (l *load) works(t testing.TB) {
	before := l.acked.Load()
	wait(t, "writes are acknowledged", func() bool { return l.acked.Load() > before+200 })
}

// next writes an entity and returns the time of the acknowledgement.
func (l *load) next(t testing.TB) time.Time {
	must.OK(t, putOne(context.Background(), l.stores[0], local.Name()))
	return time.Now()
}

func (l *load) end() {
	close(l.ended)
	l.all.Wait()
}

// stop stops the clients. It fails the test if a client got an error, or if an acknowledged write is
// missing.
func (l *load) stop(t *testing.T) {
	t.Helper()
	l.end()
	t.Logf("%d writes acknowledged, %d unknown, %d busy", len(l.keys), l.unknown.Load(), l.failed.Load())
	if l.unknown.Load() > 0 || l.failed.Load() > 0 {
		t.Errorf("%d writes have unknown outcomes and %d were refused: the store should have waited and found out", l.unknown.Load(), l.failed.Load())
	}
	l.present(t)
}

func (l *load) present(t testing.TB) {
	t.Helper()
	if missing, acked := l.missing(t); missing > 0 {
		t.Errorf("%d of %d acknowledged writes are missing", missing, acked)
	}
}

// missing returns the number of acknowledged writes, and how many of their entities are missing.
func (l *load) missing(t testing.TB) (missing, acked int) {
	t.Helper()
	l.mu.Lock()
	keys := maps.Clone(l.keys)
	l.mu.Unlock()
	acked = len(keys)
	r := table.ScanRequest{Ranges: []key.Range{{}}, Rows: 1000}
	for r.Ranges != nil {
		page, err := l.stores[0].Scan(context.Background(), people, r)
		must.OK(t, err)
		for _, e := range page.Rows {
			delete(keys, string(e.Key))
		}
		r.Ranges = nil
		if page.Next != nil {
			r.Ranges = key.From([]key.Range{{}}, page.Next)
		}
	}
	return len(keys), acked
}
