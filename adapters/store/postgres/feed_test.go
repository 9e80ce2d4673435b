package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"edgetable/adapters/store/postgres"
	"edgetable/adapters/store/postgres/feed"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/must"
	"edgetable/testdata/needs"
	"edgetable/testdata/postgres/local"
)

func feeding() *table.Traits { return &table.Traits{Feed: &table.Feed{Keep: 1 << 50}} }

// openFeeding opens a store and creates the table "people", which has a feed.
func openFeeding(t testing.TB, c *local.Cluster, o postgres.Options) *postgres.Store {
	t.Helper()
	if o.Schema == "" {
		o.Schema = newSchema(t, c)
	}
	s := open(t, c, o)
	create(t, s)
	declare(t, s, feeding())
	return s
}

func endOfFeed(t testing.TB, s *postgres.Store) *table.FeedPosition {
	t.Helper()
	page, err := s.Changes(t.Context(), people, table.FeedRequest{})
	must.OK(t, err)
	return &page.Next
}

// changesSince returns the names of the entities that changed after a position, and the position after these changes.
func changesSince(t testing.TB, s *postgres.Store, from *table.FeedPosition) (names []string, next *table.FeedPosition) {
	t.Helper()
	page, err := s.Changes(t.Context(), people, table.FeedRequest{From: from})
	must.OK(t, err)
	for _, c := range page.Commits {
		for _, change := range c.Changes {
			_, name := key.Decode(change.Key)
			names = append(names, name)
		}
		if c.Dropped {
			names = append(names, "dropped")
		}
	}
	return names, &page.Next
}

func expectChanged(t testing.TB, what string, s *postgres.Store, from *table.FeedPosition, want ...string) (next *table.FeedPosition) {
	t.Helper()
	names, next := changesSince(t, s, from)
	if !slices.Equal(names, want) {
		t.Errorf("%s: changed is %q, want %q", what, names, want)
	}
	return next
}

func expectHistory(t testing.TB, what string, s *postgres.Store, from *table.FeedPosition) {
	t.Helper()
	if page, err := s.Changes(t.Context(), people, table.FeedRequest{From: from}); !errors.Is(err, table.ErrHistory) {
		t.Errorf("%s: %+v, %v, want %v", what, page, err, table.ErrHistory)
	}
}

// stranger returns a database connection that does not belong to edgetable.
func stranger(t testing.TB, c *local.Cluster) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), c.DSN("application_name=stranger"))
	must.OK(t, err)
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func run(t testing.TB, c *pgx.Conn, sql string) {
	t.Helper()
	_, err := c.Exec(t.Context(), sql)
	must.OK(t, err)
}

// stall starts a commit of these entities. The commit waits for a lock on the row of the first entity until release is called.
// When stall returns, the commit has its Timestamp. A commit of several entities is a batch, which adds its line to the feed
// before it waits. So the batch also has its transaction number.
func stall(t *testing.T, s *postgres.Store, names ...string) (release func()) {
	t.Helper()
	var m []table.Mutation
	for _, name := range names {
		m = append(m, table.Mutation{Key: row("p", name), Nonce: 1, Properties: text(name)})
	}
	unlock := lockRows(t, s, names[0])
	done := make(chan error, 1)
	go func() {
		_, err := s.Commit(context.Background(), people, m)
		done <- err
	}()
	wait(t, "the write waits for the row", func() bool {
		return ask(t, shared, "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'", s.Name()) == "1"
	})
	return func() {
		unlock()
		must.OK(t, <-done)
	}
}

// TestLateCommitInAFeed makes a late commit: it becomes visible after another commit with a higher Timestamp and a higher
// transaction number. A reader must get the late commit after the other commit. The test also proves that some readers would
// miss the late commit: those that use only Timestamps, or only transaction numbers.
func TestLateCommitInAFeed(t *testing.T) {
	needs.These(t, needs.Postgres)
	s := openFeeding(t, shared, postgres.Options{PurgeEvery: -1})
	fast := func() edm.Ticks { return edm.TicksOf(time.Now()) + 5*edm.TicksPerSecond }
	other := open(t, shared, postgres.Options{Schema: s.Schema, PurgeEvery: -1, Now: fast})
	endOfFeed(t, s) // end all earlier writes, so that the next call does not wait for them
	release := stall(t, s, "x", "y")
	from := endOfFeed(t, s)
	must.OK(t, putOne(t.Context(), other, "early"))
	must.OK(t, putOne(t.Context(), other, "next"))
	after := expectChanged(t, "while it waits", other, from, "early", "next")
	ticks, number := ask(t, shared, "SELECT max(ts) FROM "+s.Schema+".change"), ask(t, shared, "SELECT max(xact) FROM "+s.Schema+".change")
	release()
	must.OK(t, putOne(t.Context(), other, "last"))
	expectChanged(t, "after it", s, after, "x", "y", "last")
	expectChanged(t, "from before it", s, from, "x", "y", "early", "next", "last")
	for what, condition := range map[string]string{"Timestamps": "ts > " + ticks, "numbers": "xact > " + number} {
		if n := ask(t, shared, "SELECT count(*) FROM "+s.Schema+".change WHERE "+condition); n != "1" {
			t.Errorf("by %s alone %s changes come after, and this test shows nothing", what, n)
		}
	}
}

// TestNumbersAfterACrash checks that a position never contains the number of a transaction that was rolled back. After a crash,
// PostgreSQL can give such a number to another transaction. The reader would then skip the lines of that transaction.
func TestNumbersAfterACrash(t *testing.T) {
	t.Parallel()
	c := cluster(t, local.Options{})
	s := openFeeding(t, c, postgres.Options{PurgeEvery: -1})
	endOfFeed(t, s)
	// After the crash, PostgreSQL should give the numbers of transactions that were rolled back to new transactions. PostgreSQL
	// does not do so if a heartbeat has committed with a higher transaction number. So the test tries several times.
	for try := range 20 {
		other := stranger(t, c)
		must.OK(t, putOne(t.Context(), s, fmt.Sprint("before", try)))
		var undone int64
		for range 100 {
			run(t, other, "BEGIN")
			must.OK(t, other.QueryRow(t.Context(), "SELECT txid_current()").Scan(&undone))
			run(t, other, "ROLLBACK")
		}
		from := endOfFeed(t, s)
		must.OK(t, c.Restart())
		must.OK(t, putOne(t.Context(), s, "after"))
		expectChanged(t, "after the crash", s, from, "after")
		if again := ask(t, c, "SELECT max(xact) <= $1::int8 FROM "+s.Schema+".change", undone); again == "true" {
			return
		}
	}
	t.Error("no number came again, and this test shows nothing")
}

// TestFeedBesideAnOldTransaction checks that an open transaction of another program does not delay readers, and that no position
// contains its number.
func TestFeedBesideAnOldTransaction(t *testing.T) {
	needs.These(t, needs.Postgres)
	s := openFeeding(t, shared, postgres.Options{PurgeEvery: -1})
	from := endOfFeed(t, s)
	other := stranger(t, shared)
	run(t, other, "BEGIN; SELECT txid_current(); SELECT count(*) FROM "+s.Schema+".change")
	for i := range 20 {
		name := fmt.Sprint(i)
		must.OK(t, putOne(t.Context(), s, name))
		from = expectChanged(t, "beside it", s, from, name)
		p, ok := feed.ParsePosition(from.At)
		if !ok || len(p.Open) > 0 {
			t.Fatalf("the position is %+v, %v", p, ok)
		}
	}
	run(t, other, "CREATE TEMPORARY TABLE anything (n int); COMMIT")
	expectChanged(t, "after it", s, from)
}

// TestFeedOfManyCommits checks a reader that is many lines behind. The reader must read the lines in windows of limited length,
// each of which ends at the stored snapshot (mark) of a line. The reader must get each change once, for any length of its pages.
func TestFeedOfManyCommits(t *testing.T) {
	needs.These(t, needs.Postgres)
	s := openFeeding(t, shared, postgres.Options{PurgeEvery: -1})
	other := open(t, shared, postgres.Options{Schema: s.Schema, PurgeEvery: -1})
	from := endOfFeed(t, s)
	const each = 1200
	var g sync.WaitGroup
	for w := range 8 {
		g.Go(func() {
			for i := range each {
				m := []table.Mutation{{Key: row(fmt.Sprint(w), fmt.Sprint(i)), Nonce: 1, Properties: text("x")}}
				if i%10 == 0 {
					m = append(m, table.Mutation{Key: row(fmt.Sprint(w), "again"), Nonce: 1, Properties: text("x")})
				}
				if _, err := []*postgres.Store{s, other}[w%2].Commit(context.Background(), people, m); err != nil {
					t.Error(err)
				}
			}
		})
	}
	g.Wait()
	page, err := s.Changes(t.Context(), people, table.FeedRequest{From: from, Changes: 1})
	must.OK(t, err)
	p, _ := feed.ParsePosition(page.Next.At)
	if highest := ask(t, shared, "SELECT max(xact) FROM "+s.Schema+".change"); p.Until == nil || fmt.Sprint(p.Until.High) == highest {
		t.Errorf("the first window ends at %+v, and not at a mark; the highest number is %s", p.Until, highest)
	}
	for _, limit := range []int{97, 1000} {
		seen, last, at := map[edm.Ticks]bool{}, map[string]edm.Ticks{}, from
		for more := true; more; {
			page, err := s.Changes(t.Context(), people, table.FeedRequest{From: at, Changes: limit})
			must.OK(t, err)
			for _, c := range page.Commits {
				if seen[c.Ticks] {
					t.Fatalf("the commit of %d comes twice", c.Ticks)
				}
				seen[c.Ticks] = true
				for _, change := range c.Changes {
					if k := string(change.Key); last[k] >= c.Ticks {
						t.Errorf("%d comes after %d", c.Ticks, last[k])
					} else {
						last[k] = c.Ticks
					}
				}
			}
			at, more = &page.Next, page.More
		}
		if len(seen) != 8*each {
			t.Errorf("pages of %d: %d commits of %d", limit, len(seen), 8*each)
		}
	}
}

// TestDropInAFeed checks that readers see the drop of a table only after all writes that began before the drop.
func TestDropInAFeed(t *testing.T) {
	needs.These(t, needs.Postgres)
	s := openFeeding(t, shared, postgres.Options{PurgeEvery: -1})
	other := open(t, shared, postgres.Options{Schema: s.Schema, PurgeEvery: -1})
	endOfFeed(t, s) // end all earlier writes, so that the next call does not wait for them
	release := stall(t, s, "x")
	from := endOfFeed(t, s)
	r, err := other.ReadRecord(t.Context(), people, table.Strong)
	must.OK(t, err)
	must.OK(t, other.Drop(t.Context(), people, r.Revision))
	told := make(chan []string, 1)
	go func() {
		names, _ := changesSince(t, other, from)
		told <- names
	}()
	for range 5 { // some heartbeats, while the reader waits
		must.OK(t, other.Ready(t.Context()))
	}
	release()
	if names := <-told; !slices.Equal(names, []string{"x", "dropped"}) {
		t.Errorf("changed is %q", names)
	}
}

// TestFeedBeginsAfterOthers checks that a new feed returns its first position late enough. Writes that began before the feed was
// declared add no line, so all these writes must have ended first.
func TestFeedBeginsAfterOthers(t *testing.T) {
	needs.These(t, needs.Postgres)
	s := open(t, shared, postgres.Options{Schema: newSchema(t, shared), PurgeEvery: -1})
	create(t, s)
	must.OK(t, putOne(t.Context(), s, "x"))
	before, err := s.Get(t.Context(), people, row("p", "x"), table.Strong)
	must.OK(t, err)
	other := open(t, shared, postgres.Options{Schema: s.Schema, PurgeEvery: -1})
	release := stall(t, s, "x")
	r, err := other.ReadRecord(t.Context(), people, table.Strong)
	must.OK(t, err)
	r.Traits = feeding()
	declared, begun := make(chan error, 1), make(chan edm.Ticks, 1)
	go func() {
		_, err := other.WriteRecord(context.Background(), r)
		declared <- err
	}()
	wait(t, "the feed is in the record", func() bool { return ask(t, shared, "SELECT count(traits) FROM "+s.Schema+".record") == "1" })
	go func() {
		endOfFeed(t, other)
		now, err := other.Get(t.Context(), people, row("p", "x"), table.Strong)
		if err != nil {
			t.Error(err)
		}
		begun <- now.Timestamp
	}()
	for range 5 {
		must.OK(t, other.Ready(t.Context()))
	}
	release()
	if ticks := <-begun; ticks == before.Timestamp {
		t.Error("a position was given out before the write that leaves no line")
	}
	must.OK(t, <-declared)
}

// TestLostInAFeed breaks connections during writes to a table with a feed. The feed must contain every applied write exactly
// once, and no other write.
func TestLostInAFeed(t *testing.T) {
	one := func(s *postgres.Store) error { return putOne(context.Background(), s, "a") }
	batch := func(s *postgres.Store) error {
		_, err := s.Commit(context.Background(), people, []table.Mutation{{Key: row("p", "a"), Nonce: 2, Properties: text("2")}, {Key: row("p", "b"), Nonce: 2, Properties: text("2")}})
		return err
	}
	for _, tt := range []struct {
		name, statement string
		fate            loss
		do              func(s *postgres.Store) error
		want            []string
	}{
		{"put, not sent", "feed_upsert", notSent, one, []string{"a"}},
		{"put, applied", "feed_upsert", replyLost, one, []string{"a"}},
		{"batch, not sent", "feed_batch", notSent, batch, []string{"a", "b"}},
		{"batch, applied", "feed_batch", replyLost, batch, []string{"a", "b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			needs.These(t, needs.Postgres)
			w := new(breaker)
			s := openFeeding(t, shared, postgres.Options{PurgeEvery: -1, Dial: w.dial})
			must.OK(t, putOne(t.Context(), s, "first"))
			from := endOfFeed(t, s)
			b := w.arm(tt.statement, tt.fate)
			outcome := make(chan error, 1)
			go func() { outcome <- tt.do(s) }()
			b.await(t, outcome)
			close(b.lose)
			must.OK(t, <-outcome)
			expectChanged(t, "once", s, from, tt.want...)
		})
	}
}

// TestFeedBesideCrashes lets PostgreSQL crash while two stores write, and breaks connections of one store before and after
// requests. A reader of the feed must end with the state of the table, or get an error that tells it to list the table again.
func TestFeedBesideCrashes(t *testing.T) {
	t.Parallel()
	c, w := cluster(t, local.Options{}), new(wire)
	s := openFeeding(t, c, postgres.Options{PurgeEvery: -1, Dial: w.dial})
	other := open(t, c, postgres.Options{Schema: s.Schema, PurgeEvery: -1})
	w.oneOf.Store(200)
	state, from, commits := map[string]edm.Ticks{}, endOfFeed(t, s), 0
	follow := func() {
		page, err := []*postgres.Store{s, other}[commits%2].Changes(t.Context(), people, table.FeedRequest{From: from, Changes: 5})
		must.OK(t, err)
		for _, c := range page.Commits {
			commits++
			for _, change := range c.Changes {
				if change.Kind == table.Delete {
					delete(state, string(change.Key))
				} else if change.Row != nil {
					state[string(change.Key)] = change.Row.Timestamp
				}
			}
		}
		from = &page.Next
	}
	var g sync.WaitGroup
	done := make(chan struct{})
	for w := range 4 {
		rnd := rand.New(rand.NewPCG(uint64(w), 7))
		g.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				m := table.Mutation{Key: row("p", fmt.Sprint(rnd.IntN(9))), Nonce: rnd.Uint64(), Properties: text("x")}
				if rnd.IntN(4) == 0 {
					m = table.Mutation{Key: m.Key, Kind: table.Delete, Condition: table.Present}
				}
				_, _ = []*postgres.Store{s, other}[w%2].Commit(context.Background(), people, []table.Mutation{m})
			}
		})
	}
	for range 4 {
		for before := commits; commits < before+20; {
			follow()
		}
		must.OK(t, c.Restart())
	}
	for before := commits; commits < before+20; {
		follow()
	}
	close(done)
	g.Wait()
	w.oneOf.Store(0)
	for before := -1; before < commits; {
		before = commits
		follow()
	}
	page, err := s.Scan(t.Context(), people, table.ScanRequest{Ranges: []key.Range{{}}})
	must.OK(t, err)
	if len(page.Rows) != len(state) {
		t.Errorf("the follower has %d entities, the table %d", len(state), len(page.Rows))
	}
	for _, r := range page.Rows {
		if state[string(r.Key)] != r.Timestamp {
			t.Errorf("%s is of %d, the follower has that of %d", r.Key, r.Timestamp, state[string(r.Key)])
		}
	}
}

// TestFeedAfterAPromotion checks that a position from before a promotion is refused after the promotion.
func TestFeedAfterAPromotion(t *testing.T) {
	t.Parallel()
	primary, standby := pair(t)
	s := openFeeding(t, primary, postgres.Options{DSN: both(primary, standby), PurgeEvery: -1, AllowLoss: true})
	must.OK(t, putOne(t.Context(), s, "a"))
	from := endOfFeed(t, s)
	must.OK(t, putOne(t.Context(), s, "b"))
	expectChanged(t, "before", s, from, "b")
	must.OK(t, primary.Kill())
	must.OK(t, standby.Promote())
	wait(t, "the standby is promoted", func() bool { return ask(t, standby, "SELECT pg_is_in_recovery()") == "false" })
	must.OK(t, standby.Exec("ALTER SYSTEM RESET synchronous_standby_names"))
	must.OK(t, standby.Exec("SELECT pg_reload_conf()"))
	expectHistory(t, "after it", s, from)
	again := endOfFeed(t, s)
	must.OK(t, putOne(t.Context(), s, "c"))
	expectChanged(t, "a position of the new primary", s, again, "c")
}

// TestFeedInACopy checks that a copy of the database has another history, in which the feeds begin again. This must hold even if
// the copied lines have higher transaction numbers than the copy's own transactions.
func TestFeedInACopy(t *testing.T) {
	t.Parallel()
	c := cluster(t, local.Options{})
	o := postgres.Options{Schema: newSchema(t, c), PurgeEvery: -1, DSN: c.DSN(""), Connections: 8}
	s, err := postgres.Open(t.Context(), o)
	must.OK(t, err)
	create(t, s)
	declare(t, s, feeding())
	from := endOfFeed(t, s)
	must.OK(t, putOne(t.Context(), s, "a"))
	must.OK(t, s.Close())
	must.OK(t, c.Exec("CREATE DATABASE copied TEMPLATE "+ask(t, c, "SELECT current_database()")))
	s = open(t, c, o)
	expectChanged(t, "the first one", s, from, "a")
	o.DSN = c.DSN("dbname=copied")
	conn, err := pgx.Connect(t.Context(), o.DSN)
	must.OK(t, err)
	defer conn.Close(t.Context())
	run(t, conn, "UPDATE "+o.Schema+".change SET xact = xact + 1000000000") // lines like those of another PostgreSQL cluster, with higher numbers
	copied := open(t, c, o)
	expectHistory(t, "the copy", copied, from)
	end := endOfFeed(t, copied)
	must.OK(t, putOne(t.Context(), copied, "b"))
	end = expectChanged(t, "the copy goes on", copied, end, "b")
	must.OK(t, copied.TrimFeeds(t.Context(), 1<<60))
	must.OK(t, putOne(t.Context(), copied, "c"))
	expectChanged(t, "when the lines of before are removed", copied, end, "c")
	expectChanged(t, "the first one", s, from, "a")
}

// TestFeedSetBack restores the database to an earlier state. A position from after that state must be refused.
func TestFeedSetBack(t *testing.T) {
	needs.These(t, needs.Postgres)
	s := openFeeding(t, shared, postgres.Options{PurgeEvery: -1})
	must.OK(t, putOne(t.Context(), s, "a"))
	before := endOfFeed(t, s)
	must.OK(t, putOne(t.Context(), s, "b"))
	after := endOfFeed(t, s)
	must.OK(t, shared.Exec("DELETE FROM "+s.Schema+".change WHERE ts = (SELECT max(ts) FROM "+s.Schema+".change)"))
	must.OK(t, putOne(t.Context(), s, "c"))
	expectHistory(t, "a position of what is gone", s, after)
	expectChanged(t, "one of before", s, before, "c")
}

// TestFeedStatements checks which statements the store sends for a table with a feed. There must be as many as for other tables,
// and one more for a batch. After the feed was removed, a table must get the same statements as other tables.
func TestFeedStatements(t *testing.T) {
	needs.These(t, needs.Postgres)
	tp := new(tap)
	s := openFeeding(t, shared, postgres.Options{PurgeEvery: -1, Dial: tp.dial}.Watch(time.Hour))
	must.OK(t, putOne(t.Context(), s, "first"))
	expect := func(want string, m ...table.Mutation) {
		t.Helper()
		tp.take()
		_, err := s.Commit(t.Context(), people, m)
		must.OK(t, err)
		if sent := strings.Join(tp.take(), " "); sent != want {
			t.Errorf("sent is %q, want %q", sent, want)
		}
	}
	a, b := table.Mutation{Key: row("p", "a"), Properties: text("1")}, table.Mutation{Key: row("p", "b"), Properties: text("1")}
	with := func(m table.Mutation, k table.Kind, c table.Condition) table.Mutation {
		m.Kind, m.Condition = k, c
		return m
	}
	expect("feed_insert", with(a, table.Put, table.Absent))
	expect("feed_upsert", a)
	expect("feed_update", with(a, table.Put, table.Present))
	expect("feed_batch feed_upsert_all feed_insert_all", a, with(b, table.Put, table.Absent))
	expect("feed_update", with(b, table.Delete, table.Present))
	expect("ruled_get_one feed_swap", with(a, table.Merge, table.Present))
	declare(t, s, nil)
	expect("upsert", a)
	expect("upsert_all insert_all", a, with(b, table.Put, table.Absent))
}

// TestFeedKeepsOlderServersOut checks that the previous version of edgetable cannot prepare its statements. Otherwise the
// previous version could write to a table with a feed without adding a line.
func TestFeedKeepsOlderServersOut(t *testing.T) {
	needs.These(t, needs.Postgres)
	s := openFeeding(t, shared, postgres.Options{PurgeEvery: -1})
	conn := stranger(t, shared)
	_, err := conn.Prepare(t.Context(), "read_upkeep", "SELECT due, state FROM "+s.Schema+".upkeep WHERE name = $1::text")
	if err == nil || !strings.Contains(err.Error(), `column "state" does not exist`) {
		t.Errorf("a statement of the version before: %v", err)
	}
}

// TestTrimmedFeeds checks what TrimFeeds removes: old lines, the lines of a feed that was removed from its table, and the feeds
// of tables that were dropped long enough ago.
func TestTrimmedFeeds(t *testing.T) {
	needs.These(t, needs.Postgres)
	s := openFeeding(t, shared, postgres.Options{PurgeEvery: -1})
	count := func(of string) string { return ask(t, shared, "SELECT count(*) FROM "+s.Schema+"."+of) }
	trim := func(after edm.Ticks, lines, feeds string) {
		t.Helper()
		must.OK(t, s.TrimFeeds(t.Context(), edm.TicksOf(time.Now())+after))
		if count("change") != lines || count("feed") != feeds {
			t.Errorf("%s lines and %s feeds are left, want %s and %s", count("change"), count("feed"), lines, feeds)
		}
	}
	const long = 1<<50 + 100*edm.TicksPerSecond
	for i := range 2500 { // makes more lines than one statement removes
		m := []table.Mutation{{Key: row("p", fmt.Sprint(i)), Nonce: 1, Properties: text("x")}}
		_, err := s.Commit(t.Context(), people, m)
		must.OK(t, err)
	}
	trim(0, "2500", "1")
	trim(long, "0", "1")
	must.OK(t, putOne(t.Context(), s, "a"))
	declare(t, s, nil)
	trim(0, "0", "0")
	declare(t, s, feeding())
	must.OK(t, putOne(t.Context(), s, "b"))
	r, err := s.ReadRecord(t.Context(), people, table.Strong)
	must.OK(t, err)
	must.OK(t, s.Drop(t.Context(), people, r.Revision))
	trim(0, "1", "1")
	trim(long, "0", "0")
}

// TestFeedDeclaredDuringATrim withdraws a feed, and declares it again while a server removes the old
// lines. The lines of the new feed must stay.
func TestFeedDeclaredDuringATrim(t *testing.T) {
	needs.These(t, needs.Postgres)
	s := openFeeding(t, shared, postgres.Options{PurgeEvery: -1})
	lines := s.Schema + ".change"
	must.OK(t, shared.Exec("INSERT INTO "+lines+" (life, ts, keys) SELECT life, n, '' FROM "+s.Schema+".feed, generate_series(1, 1500) AS n")) // one statement removes 1000 lines
	declare(t, s, nil)
	conn, err := pgx.Connect(t.Context(), shared.DSN(""))
	must.OK(t, err)
	defer conn.Close(context.Background())
	tx, err := conn.Begin(t.Context())
	must.OK(t, err)
	_, err = tx.Exec(t.Context(), "SELECT 1 FROM "+lines+" ORDER BY xact, ts LIMIT 1 FOR UPDATE")
	must.OK(t, err)
	trimmed := make(chan error, 1)
	go func() { trimmed <- s.TrimFeeds(t.Context(), edm.TicksOf(time.Now())) }()
	wait(t, "the removal waits for the locked line", func() bool {
		return ask(t, shared, "SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND pid IN (SELECT pid FROM pg_locks WHERE relation = '"+lines+"'::regclass)") == "true"
	})
	declare(t, s, feeding())
	at := endOfFeed(t, s)
	must.OK(t, putOne(t.Context(), s, "new"))
	must.OK(t, tx.Rollback(t.Context()))
	must.OK(t, <-trimmed)
	expectChanged(t, "after the removal", s, at, "new")
}

// TestFeedBesideManyWriters checks that fast readers miss no commit of many concurrent writers. At each moment some transactions
// are ending, and pg_locks may show only some of their locks.
func TestFeedBesideManyWriters(t *testing.T) {
	needs.These(t, needs.Postgres)
	s := openFeeding(t, shared, postgres.Options{PurgeEvery: -1, Connections: 16})
	other := open(t, shared, postgres.Options{Schema: s.Schema, PurgeEvery: -1})
	stores := []*postgres.Store{s, other}
	from := endOfFeed(t, s)
	const count, each = 24, 600
	var writers, readers sync.WaitGroup
	ended := make(chan struct{})
	for w := range count {
		writers.Go(func() {
			for i := range each {
				m := []table.Mutation{{Key: row("p", fmt.Sprint(w, " ", i)), Nonce: 1, Properties: text("x")}}
				if w%7 == 0 {
					m = append(m, table.Mutation{Key: row("p", fmt.Sprint(w, " again")), Nonce: 1, Properties: text("x")})
				}
				if _, err := stores[w%2].Commit(context.Background(), people, m); err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() {
		writers.Wait()
		close(ended)
	}()
	for r, limit := range []int{50, 1000, 0} {
		readers.Go(func() {
			seen := map[edm.Ticks]bool{}
			for at, last := from, false; ; {
				select {
				case <-ended:
					last = true
				default:
				}
				page, err := stores[r%2].Changes(t.Context(), people, table.FeedRequest{From: at, Changes: limit})
				if err != nil {
					t.Error(err)
					return
				}
				for _, c := range page.Commits {
					seen[c.Ticks] = true
				}
				if at = &page.Next; last && len(page.Commits) == 0 {
					break
				}
			}
			if len(seen) != count*each {
				t.Errorf("pages of %d: %d commits of %d are told", limit, len(seen), count*each)
			}
		})
	}
	readers.Wait()
}

// TestFeedBesideOpenTransactions checks positions inside a window and inside a commit while many transactions may still add lines.
// Such a position contains these transactions twice. A reader must be able to continue from each position that it gets.
func TestFeedBesideOpenTransactions(t *testing.T) {
	t.Parallel()
	const many = 600
	c := cluster(t, local.Options{Settings: []string{"max_prepared_transactions=" + fmt.Sprint(many)}})
	s := openFeeding(t, c, postgres.Options{PurgeEvery: -1})
	conn := stranger(t, c)
	for i := range many { // a prepared transaction stays open without a connection
		run(t, conn, fmt.Sprintf("BEGIN; INSERT INTO %s.change (life, ts, keys) VALUES (1, %d, ''); PREPARE TRANSACTION 'open %[2]d'", s.Schema, i))
	}
	must.OK(t, putOne(t.Context(), s, "before")) // so that the position contains transactions with lower numbers
	from := endOfFeed(t, s)
	for _, names := range [][]string{{"a", "b"}, {"c"}, {"d"}} {
		var m []table.Mutation
		for _, name := range names {
			m = append(m, table.Mutation{Key: row("p", name), Nonce: 1, Properties: text(name)})
		}
		_, err := s.Commit(t.Context(), people, m)
		must.OK(t, err)
	}
	page, err := s.Changes(t.Context(), people, table.FeedRequest{From: from, Changes: 1})
	must.OK(t, err)
	expectChanged(t, "after the first commit", s, &page.Next, "c", "d")
	page.Next.At = page.Commits[0].After(1)
	expectChanged(t, "after half of the first commit", s, &page.Next, "b", "c", "d")
	whole, err := s.Changes(t.Context(), people, table.FeedRequest{From: from})
	must.OK(t, err)
	page.Next.At = whole.Commits[1].At
	expectChanged(t, "after the second commit", s, &page.Next, "d")
}

// TestFeedWithoutIdentity checks an SQL role that may not read the identity of the database. A declaration of a feed must fail
// with an explanation. An expiry rule must be accepted, because it does not need the identity.
func TestFeedWithoutIdentity(t *testing.T) {
	t.Parallel()
	c := cluster(t, local.Options{})
	name := newSchema(t, c)
	must.OK(t, c.Exec("CREATE ROLE limited LOGIN; GRANT USAGE ON SCHEMA "+name+" TO limited; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "+name+
		" TO limited; REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC"))
	s := open(t, c, postgres.Options{Schema: name, PurgeEvery: -1, DSN: strings.Replace(c.DSN(""), "user=postgres", "user=limited", 1)})
	create(t, s)
	r, err := s.ReadRecord(t.Context(), people, table.Strong)
	must.OK(t, err)
	r.Traits = feeding()
	_, err = s.WriteRecord(t.Context(), r)
	if refused, ok := errors.AsType[*table.Error](err); !ok || refused.Code != table.OptionsInvalid || !strings.Contains(refused.Message, "a feed needs the system identifier") {
		t.Errorf("a feed: %v", err)
	}
	declare(t, s, rule("E"))
	must.OK(t, c.Exec("GRANT EXECUTE ON FUNCTION pg_control_system() TO limited"))
	declare(t, s, feeding())
	from := endOfFeed(t, s)
	must.OK(t, putOne(t.Context(), s, "a"))
	expectChanged(t, "with the right", s, from, "a")
}
