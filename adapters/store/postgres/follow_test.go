package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"edgetable/adapters/store/postgres"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
	"edgetable/testdata/must"
)

var orders = table.RecordKey{Account: "acct", Table: "orders"}

// madeOf is the state of an entity after a commit.
type madeOf struct {
	ticks edm.Ticks
	gone  bool
}

// span contains what a consumer reads between two times at which it lists all entities of the table. The field listed
// contains the Timestamps of the entities in the first list. The field seen contains the changes of each entity in the
// feed. The field whole is true if the consumer has read the feed to its end.
type span struct {
	listed map[string]edm.Ticks
	seen   map[string][]madeOf
	whole  bool
}

// judge checks the changes of an entity that a consumer has read after it listed the table. The argument had contains all
// states that the entity really had, in order. No state between the list and the last change may be missing, come twice, or
// come out of order. No change may contain a state that the entity never had.
func (s *span) judge(name string, had []madeOf) error {
	first, listed := -1, s.listed[name]
	if listed != 0 {
		first = slices.Index(had, madeOf{ticks: listed})
		if first < 0 {
			return fmt.Errorf("the list has it with the Timestamp %d, which it never had", listed)
		}
	}
	at := -1
	for i, v := range s.seen[name] {
		found := slices.Index(had, v)
		switch {
		case found < 0:
			return fmt.Errorf("%+v never happened", v)
		case i > 0 && found != at+1:
			return fmt.Errorf("change %d comes after %d", found, at)
		case i == 0 && listed != 0 && found > first+1:
			return fmt.Errorf("change %d comes after a list that shows %d", found, first)
		case i == 0 && listed == 0 && found > 0 && !slices.ContainsFunc(had[found-1:], func(v madeOf) bool { return v.gone }):
			return fmt.Errorf("change %d comes after a list that does not show the entity, which was there since", found)
		}
		at = found
	}
	last := len(had) - 1
	switch {
	case !s.whole || at == last || last < 0:
	case at >= 0:
		return fmt.Errorf("change %d is the last one, of %d", at, last)
	case listed != 0 && first != last || listed == 0 && !had[last].gone:
		return fmt.Errorf("there is no change after the list, which shows %d and not %d", first, last)
	}
	return nil
}

// TestJudgeOfSpans checks that judge detects each kind of wrong change.
func TestJudgeOfSpans(t *testing.T) {
	had := []madeOf{{1, false}, {2, false}, {3, true}, {4, false}, {5, false}}
	for _, tt := range []struct {
		listed edm.Ticks
		seen   []madeOf
		say    string
	}{
		{0, had, ""}, {1, had, ""}, {2, had[1:], ""}, {2, had[2:], ""}, {0, had[3:], ""}, {0, had[2:], ""}, {5, nil, ""}, {5, had[3:], ""},
		{0, had[4:], "change 4 comes after a list that does not show the entity"},
		{1, had[2:], "change 2 comes after a list that shows 0"},
		{6, nil, "which it never had"}, {3, nil, "which it never had"},
		{2, []madeOf{{3, true}, {5, false}}, "change 4 comes after 2"},
		{2, []madeOf{{2, false}, {2, false}}, "change 1 comes after 1"},
		{2, []madeOf{{4, false}, {3, true}, {4, false}, {5, false}}, "change 3 comes after a list that shows 1"},
		{4, []madeOf{{4, false}, {5, false}, {4, false}}, "change 3 comes after 4"},
		{4, []madeOf{{5, true}}, "never happened"}, {4, []madeOf{{7, false}}, "never happened"},
		{2, had[2:4], "change 3 is the last one, of 4"},
		{4, nil, "no change after the list"}, {0, nil, "no change after the list"},
	} {
		s := span{map[string]edm.Ticks{"e": tt.listed}, map[string][]madeOf{"e": tt.seen}, true}
		if err := s.judge("e", had); (err != nil) != (tt.say != "") || err != nil && !strings.Contains(err.Error(), tt.say) {
			t.Errorf("%+v: %v", tt, err)
		}
	}
	if err := (&span{seen: map[string][]madeOf{"e": had[:2]}}).judge("e", had); err != nil {
		t.Errorf("a span that a 410 ended: %v", err)
	}
}

// consumer reads the feed of a table, as docs/feed.md says.
type consumer struct {
	stores []*postgres.Store // the consumer sends its requests to these stores in turn
	limit  int               // maximum number of changes in a page
	// a stubborn consumer does not list the table again after status 410, but continues at the end of the feed
	stubborn bool

	commits, refused atomic.Int64
	sizes            map[edm.Ticks]int // number of changes in each commit, by the Timestamp of the commit
	spans            []span

	mu    sync.Mutex
	state map[string]string // Timestamp and properties of each entity
}

func stateOf(r *table.Row) string { return fmt.Sprint(r.Timestamp, " ", string(r.Properties)) }

// listOrders returns the entities of the table.
func listOrders(ctx context.Context, s *postgres.Store) (rows []table.Row, err error) {
	r := table.ScanRequest{Ranges: []key.Range{{}}}
	for r.Ranges != nil {
		page, err := s.Scan(ctx, orders, r)
		if err != nil {
			return nil, err
		}
		rows = append(rows, page.Rows...)
		r.Ranges = nil
		if page.Next != nil {
			r.Ranges = key.From([]key.Range{{}}, page.Next)
		}
	}
	return rows, nil
}

// begin gets the position at the end of the feed and then lists the table.
func (c *consumer) begin(ctx context.Context, s *postgres.Store) (*table.FeedPosition, error) {
	page, err := s.Changes(ctx, orders, table.FeedRequest{})
	if err != nil || c.stubborn && len(c.spans) > 0 {
		return &page.Next, err
	}
	rows, err := listOrders(ctx, s)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = make(map[string]string)
	now := span{listed: make(map[string]edm.Ticks), seen: make(map[string][]madeOf)}
	for i := range rows {
		c.state[string(rows[i].Key)], now.listed[string(rows[i].Key)] = stateOf(&rows[i]), rows[i].Timestamp
	}
	c.spans = append(c.spans, now)
	return &page.Next, nil
}

// follow reads the feed until ctx ends, and then continues to the end of the feed.
func (c *consumer) follow(ctx context.Context) error {
	c.sizes = make(map[edm.Ticks]int)
	var at *table.FeedPosition
	for i := 0; ; i++ {
		s, last := c.stores[i%len(c.stores)], ctx.Err() != nil
		if at == nil {
			var err error
			if at, err = c.begin(context.Background(), s); err != nil {
				return fmt.Errorf("begin: %w", err)
			}
		}
		page, err := s.Changes(context.Background(), orders, table.FeedRequest{From: at, Changes: c.limit})
		if errors.Is(err, table.ErrHistory) || errors.Is(err, table.ErrFeedExpired) {
			at = nil
			c.refused.Add(1)
			continue
		}
		if err != nil {
			return err
		}
		if err := c.apply(&page); err != nil {
			return err
		}
		if at = &page.Next; len(page.Commits) > 0 || page.More {
			continue
		}
		if last {
			c.spans[len(c.spans)-1].whole = true
			return nil
		}
		if err := s.AwaitChanges(ctx, orders, *at); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

func (c *consumer) apply(page *table.FeedPage) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := c.spans[len(c.spans)-1].seen
	for i := range page.Commits {
		one := &page.Commits[i]
		c.sizes[one.Ticks] = len(one.Changes)
		for _, change := range one.Changes {
			k := string(change.Key)
			seen[k] = append(seen[k], madeOf{one.Ticks, change.Kind == table.Delete})
			switch {
			case change.Kind == table.Delete:
				delete(c.state, k)
			case change.Row == nil: // the entity has changed again, and the later change contains the new state of the entity
			case change.Row.Timestamp != one.Ticks:
				return fmt.Errorf("the change of %q at %d has its state of %d", k, one.Ticks, change.Row.Timestamp)
			default:
				c.state[k] = stateOf(change.Row)
			}
		}
	}
	c.commits.Add(int64(len(page.Commits)))
	return nil
}

func (c *consumer) has(k []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.state[string(k)]
	return ok
}

// differs returns the number of entities that the consumer and the table have in different states.
func (c *consumer) differs(t testing.TB) (n int) {
	t.Helper()
	rows, err := listOrders(context.Background(), c.stores[0])
	must.OK(t, err)
	rest := maps.Clone(c.state)
	for i := range rows {
		k := string(rows[i].Key)
		if rest[k] != stateOf(&rows[i]) {
			n++
		}
		delete(rest, k)
	}
	return n + len(rest)
}

func createOrders(t testing.TB, s *postgres.Store) {
	t.Helper()
	_, err := s.WriteRecord(t.Context(), table.Record{Key: orders, Incarnation: table.Incarnation{2}, Traits: feeding()})
	must.OK(t, err)
}

// following is a test with writers of a table that has a feed, and with consumers of the feed. Each entity has one writer,
// which records all states of the entity.
type following struct {
	all              []*consumer
	writers          []*feedWriter
	stopWriting      func()
	writing, reading sync.WaitGroup
	stopReading      context.CancelFunc
}

type feedWriter struct {
	had     map[string][]madeOf
	sizes   map[edm.Ticks]int
	unknown map[string]bool // the entities whose last change has an unknown outcome; the value is true if this change is a deletion
	losses  int             // number of commits with an unknown outcome
}

// startFollowing creates the table and starts writers and two consumers. One consumer requests long pages from one store.
// The other requests short pages from all stores in turn.
func startFollowing(t testing.TB, stores ...*postgres.Store) *following {
	createOrders(t, stores[0])
	ctx, cancel := context.WithCancel(context.Background())
	written := make(chan struct{})
	f := &following{stopWriting: sync.OnceFunc(func() { close(written) }), stopReading: cancel, all: []*consumer{{stores: stores[:1], limit: 1000}, {stores: stores, limit: 7}}}
	for _, c := range f.all {
		f.reading.Go(func() {
			if err := c.follow(ctx); err != nil {
				t.Errorf("a consumer of the feed: %v", err)
			}
		})
	}
	for id := range 4 {
		w := &feedWriter{had: make(map[string][]madeOf), sizes: make(map[edm.Ticks]int), unknown: make(map[string]bool)}
		f.writers = append(f.writers, w)
		f.writing.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(id), 49))
			for {
				select {
				case <-written:
					return
				default:
				}
				if err := w.write(stores[id%len(stores)], fmt.Sprint("w", id), rnd); err != nil {
					t.Errorf("a writer of the table with a feed: %v", err)
					return
				}
			}
		})
	}
	t.Cleanup(f.end)
	return f
}

// write changes some entities of a partition in one commit: each entity is put, merged or deleted. If a purge has removed a
// tombstone meanwhile, the outcome may be unknown (docs/postgres.md). After an unknown outcome, write uses other entities.
func (w *feedWriter) write(s *postgres.Store, partition string, rnd *rand.Rand) error {
	var list []table.Mutation
	for _, i := range rnd.Perm(6)[:1+max(0, rnd.IntN(6)-3)] {
		m := table.Mutation{Key: row(partition, fmt.Sprint(w.losses, "-", i)), Nonce: rnd.Uint64(), Properties: text(fmt.Sprint(rnd.Uint64()))}
		had := w.had[string(m.Key)]
		there := len(had) > 0 && !had[len(had)-1].gone
		switch rnd.IntN(4) {
		case 0:
			m.Kind = table.Merge
		case 1:
			if m.Condition = table.Absent; there {
				m.Condition = table.Present
			}
		case 2:
			if there {
				m = table.Mutation{Key: m.Key, Kind: table.Delete, Condition: table.Present}
			}
		}
		list = append(list, m)
	}
	ticks, err := s.Commit(context.Background(), orders, list)
	if errors.Is(err, table.ErrUnknown) {
		for _, m := range list {
			w.unknown[string(m.Key)] = m.Kind == table.Delete
		}
		w.losses++
		return nil
	}
	if err != nil {
		return err
	}
	w.sizes[ticks] = len(list)
	for _, m := range list {
		w.had[string(m.Key)] = append(w.had[string(m.Key)], madeOf{ticks, m.Kind == table.Delete})
	}
	return nil
}

// awaitCommits waits until each consumer has read more than 50 further commits.
func (f *following) awaitCommits(t testing.TB) {
	for _, c := range f.all {
		before := c.commits.Load()
		wait(t, "the consumers of the feed read changes", func() bool { return c.commits.Load() > before+50 })
	}
}

// refused returns how often the feed answered a consumer with status 410: the lowest and the highest count of all
// consumers.
func (f *following) refused() (least, most int64) {
	least = f.all[0].refused.Load()
	for _, c := range f.all {
		least, most = min(least, c.refused.Load()), max(most, c.refused.Load())
	}
	return least, most
}

// happened decides whether a change with an unknown outcome was applied. If so, the returned list contains the change. A
// change was applied if a consumer has seen the change. A deletion was also applied if no consumer has the entity any
// more.
func (f *following) happened(name string, had []madeOf, gone bool) []madeOf {
	there := false
	for _, c := range f.all {
		for i := range c.spans {
			all := c.spans[i].seen[name]
			if ticks := c.spans[i].listed[name]; ticks != 0 {
				all = append([]madeOf{{ticks: ticks}}, all...)
			}
			for _, v := range all {
				if v.gone == gone && !slices.Contains(had, v) {
					return []madeOf{v}
				}
			}
		}
		there = there || c.has([]byte(name))
	}
	if n := len(had); gone && !there && n > 0 && !had[n-1].gone {
		return []madeOf{{had[n-1].ticks + 1, true}}
	}
	return nil
}

// end stops the writers and then the consumers. A store cannot be closed while a consumer uses it.
func (f *following) end() {
	f.stopWriting()
	f.writing.Wait()
	f.stopReading()
	f.reading.Wait()
}

// stop stops the writers and then the consumers, and checks what the consumers have read.
func (f *following) stop(t testing.TB) {
	t.Helper()
	f.end()
	had, sizes, losses := make(map[string][]madeOf), make(map[edm.Ticks]int), 0
	for _, w := range f.writers {
		for name, gone := range w.unknown {
			w.had[name] = append(w.had[name], f.happened(name, w.had[name], gone)...)
		}
		maps.Copy(had, w.had)
		maps.Copy(sizes, w.sizes)
		losses += w.losses
	}
	t.Logf("%d commits to a table with a feed, and %d whose outcome is unknown", len(sizes), losses)
	for i, c := range f.all {
		changes := 0
		for j := range c.spans {
			s := &c.spans[j]
			for name, list := range s.seen {
				if changes += len(list); had[name] == nil {
					t.Errorf("consumer %d, span %d: nobody wrote %q", i, j, name)
				}
			}
			for name, versions := range had {
				if err := s.judge(name, versions); err != nil {
					t.Errorf("consumer %d, span %d of %d, entity %q: %v", i, j, len(c.spans), name, err)
				}
			}
		}
		for ticks, n := range c.sizes {
			if m, ok := sizes[ticks]; ok && m != n { // the method judge has already checked the entities whose outcome is unknown
				t.Errorf("consumer %d: %d changes of the commit of %d, which had %d", i, n, ticks, m)
			}
		}
		if n := c.differs(t); n > 0 {
			t.Errorf("consumer %d: %d entities differ from the table", i, n)
		}
		t.Logf("consumer %d of a feed: it read %d changes in %d of %d commits, and began again %d times", i, changes, c.commits.Load(), len(sizes), c.refused.Load())
	}
}
