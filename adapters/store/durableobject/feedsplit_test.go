package durableobject_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"slices"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/position"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

var (
	feedSeeds = flag.Int("feeds", 150, "seeds of TestFeedOfSplits")
	feedSeed  = flag.Uint64("feed", 0, "the only seed of TestFeedOfSplits")
)

// TestFeedOfSplits follows the feeds of tables that split and join all the time, with the faults of TestSplits:
// messages are lost, late and repeated, and objects restart. In the end each follower must have the same entities as
// the table. It must have read all commits that were confirmed after it began, each once, and those of a partition in
// order.
func TestFeedOfSplits(t *testing.T) {
	t.Parallel()
	seeds := *feedSeeds
	if testing.Short() {
		seeds = 20
	}
	splits, joined, commits := 0, 0, 0
	for seed := range uint64(seeds) {
		if *feedSeed != 0 {
			seed = *feedSeed - 1
		}
		w := newFollowed(t, seed+1, nil)
		w.run()
		for i, f := range w.followers {
			commits += f.commits
			for _, wrong := range f.wrong {
				t.Errorf("seed %d, follower %d: %s", w.seed, i, wrong)
			}
		}
		if splits, joined = splits+w.splits, joined+len(w.joined); t.Failed() {
			t.Fatalf("try -feed %d", w.seed)
		}
		if *feedSeed != 0 {
			return
		}
	}
	t.Logf("%d splits, %d joins with entities, %d commits read", splits, joined, commits)
	if splits < 2*seeds || joined < seeds/20 || commits < 20*seeds { // in about one of 20 seeds, a range with entities merges into its neighbour
		t.Errorf("%d seeds have only %d splits, %d joins, %d commits", seeds, splits, joined, commits)
	}
}

// TestFeedControls checks that three rules are necessary: a position for each range; a range waits for the
// range from which it got keys; lines name new ranges. If any one of these rules is broken, a reader of the
// feed finds an error.
func TestFeedControls(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		what   string
		spoils func(*durableobject.Store, *table.FeedPosition)
		hides  message.FeedKind
	}{
		{"one position", onePosition, message.FeedCommit},
		{"a range that does not wait", nil, message.FeedTook},
		{"a range that nobody names", nil, message.FeedGave},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(400) {
				w := newFollowed(t, seed+1, tt.spoils)
				if tt.hides != message.FeedCommit {
					w.answered = func(c durableobject.Call, a durableobject.Answer) durableobject.Answer {
						return without(tt.hides, c, a)
					}
				}
				w.run()
				for _, f := range w.followers {
					if len(f.wrong) > 0 {
						t.Logf("seed %d: %s", w.seed, f.wrong[0])
						return
					}
				}
			}
			t.Error("no follower noticed it")
		})
	}
}

// onePosition gives all ranges in a position the same Timestamp, the latest of them.
func onePosition(_ *durableobject.Store, at *table.FeedPosition) {
	p, ok := position.Read(at.At)
	if !ok {
		panic("a position that is not read")
	}
	latest := edm.Ticks(0)
	for _, r := range p.Ranges {
		latest = max(latest, r.At)
	}
	for _, r := range p.Ranges {
		p.Set(r.Object, latest)
	}
	at.At = p.Append(nil)
}

// This function removes the items of one kind from an answer with lines.
func without(kind message.FeedKind, c durableobject.Call, a durableobject.Answer) durableobject.Answer {
	if opOf(c) != message.OpLines || a.Err != nil {
		return a
	}
	r, err := message.Result(a.Message)
	if err != nil {
		return a
	}
	head := r.FeedAnswer()
	m := message.AppendFeedAnswer(nil, &head)
	for r.OK() && !r.Done() {
		if i := r.FeedItem(); i.Kind != kind {
			m = message.AppendFeedItem(m, &i)
		}
	}
	return durableobject.Answer{Message: m}
}

// newFollowed returns a table with a feed and three followers, two of which ask only a few ranges at a time.
func newFollowed(t *testing.T, seed uint64, spoil func(*durableobject.Store, *table.FeedPosition)) *splits {
	w := newSplits(t, seed)
	w.feeds = true
	for i, limit := range []int{0, 3, 1} {
		store := w.store(func() edm.Ticks { return w.now }, func(o *durableobject.Options) { o.Buckets = w.buckets })
		if i > 0 {
			store.AskAtOnce(1 + int(seed%3))
		}
		w.followers = append(w.followers, &follower{w: w, store: store, limit: limit, spoil: spoil})
	}
	return w
}

// ack is a confirmed commit.
type ack struct {
	ticks   edm.Ticks
	call    int64
	changes int
}

// follower follows the feed of a table as docs/feed.md tells clients to.
type follower struct {
	w       *splits
	store   *durableobject.Store
	limit   int
	spoil   func(*durableobject.Store, *table.FeedPosition)
	at      *table.FeedPosition
	begun   int64
	state   map[string]string
	last    map[string]edm.Ticks // the Timestamp of the last commit, by partition
	seen    map[edm.Ticks]bool
	commits int
	wrong   []string
	reading bool
}

func (f *follower) err(format string, args ...any) {
	f.wrong = append(f.wrong, fmt.Sprintf(format, args...))
}

// begin gets the position at the end of the feed, and then lists the table.
func (f *follower) begin() {
	page, err := f.store.Changes(f.w.t.Context(), tableKey, table.FeedRequest{})
	if err != nil {
		return
	}
	f.begun = f.w.tick()
	state := map[string]string{}
	for from := []byte(nil); ; {
		list, err := f.store.Scan(f.w.t.Context(), tableKey, table.ScanRequest{Ranges: []key.Range{{Start: from}}})
		if err != nil {
			return
		}
		for i := range list.Rows {
			state[string(list.Rows[i].Key)] = string(table.AppendRow(nil, &list.Rows[i]))
		}
		if from = list.Next; from == nil {
			break
		}
	}
	f.at, f.state, f.last, f.seen = &page.Next, state, map[string]edm.Ticks{}, map[edm.Ticks]bool{}
}

// read reads a page. It reports whether there may be another page.
func (f *follower) read() (more bool) {
	if f.reading || len(f.wrong) > 0 { // an earlier read still waits for its answer
		return false
	}
	f.reading = true
	defer func() { f.reading = false }()
	if f.at == nil {
		f.begin()
		return f.at != nil
	}
	page, err := f.store.Changes(f.w.t.Context(), tableKey, table.FeedRequest{From: f.at, Changes: f.limit})
	switch {
	case errors.Is(err, table.ErrFeedEnded):
		f.at = nil
		return true
	case errors.Is(err, table.ErrBusy), errors.Is(err, table.ErrNoTable):
		return false
	case err != nil:
		f.err("a page: %v", err)
		return false
	}
	for i := range page.Commits {
		f.commits++
		if f.apply(&page.Commits[i]); f.at == nil {
			return true
		}
	}
	if f.at = &page.Next; f.spoil != nil {
		f.spoil(f.store, f.at)
	}
	return page.More || len(page.Commits) > 0
}

func (f *follower) apply(c *table.FeedCommit) {
	if c.Dropped {
		f.at, f.state = nil, nil
		return
	}
	if f.seen[c.Ticks] {
		f.err("the commit at %d came twice", c.Ticks)
	}
	f.seen[c.Ticks] = true
	for i := range c.Changes {
		change := &c.Changes[i]
		k := string(change.Key)
		partition := string(key.Partition(change.Key))
		if c.Ticks < f.last[partition] {
			f.err("%q: %d after %d", change.Key, c.Ticks, f.last[partition])
		}
		f.last[partition] = c.Ticks
		switch {
		case change.Kind != table.Put:
			delete(f.state, k)
		case change.Row != nil:
			if change.Row.Timestamp != c.Ticks {
				f.err("%q at %d has the content of %d", k, c.Ticks, change.Row.Timestamp)
			}
			f.state[k] = string(table.AppendRow(nil, change.Row))
		}
	}
}

// compare demands that the follower has the same entities as the table, and has read all commits that were
// confirmed since it began.
func (f *follower) compare() {
	for n := 0; f.read() || f.at == nil; n++ {
		if n > 20_000 {
			f.err("the feed does not end")
			return
		}
	}
	if len(f.wrong) > 0 {
		return
	}
	want := map[string]string{}
	page, err := f.w.stores[0].Scan(f.w.t.Context(), tableKey, everything)
	if err != nil {
		f.w.t.Fatal(err)
	}
	for i := range page.Rows {
		want[string(page.Rows[i].Key)] = string(table.AppendRow(nil, &page.Rows[i]))
	}
	for k, row := range want {
		if f.state[k] != row {
			f.err("the follower has another %q", k)
		}
	}
	for k := range f.state {
		if want[k] == "" {
			f.err("only the follower has %q", k)
		}
	}
	for _, a := range f.w.acks {
		if a.call > f.begun && f.w.dropped < f.begun && !f.seen[a.ticks] {
			f.err("the commit at %d is not in the feed", a.ticks)
		}
	}
}

// fromStart demands that a client that begins at the oldest line also gets the last state of each entity.
func (w *splits) fromStart() {
	f := &follower{w: w, store: w.stores[0], state: map[string]string{}, last: map[string]edm.Ticks{}, seen: map[edm.Ticks]bool{}}
	page, err := f.store.Changes(w.t.Context(), tableKey, table.FeedRequest{Oldest: true, Changes: 2})
	for n := 0; err == nil && n < 20_000; n++ {
		for i := range page.Commits {
			f.apply(&page.Commits[i])
		}
		f.at = &page.Next
		if !page.More {
			break
		}
		page, err = f.store.Changes(w.t.Context(), tableKey, table.FeedRequest{From: f.at, Changes: 2})
	}
	if err != nil {
		f.err("from the oldest line: %v", err)
	}
	f.begun = w.tick()
	f.compare()
	w.followers = append(w.followers, f) // added to the list, so that the test reports the faults of all followers
}

// TestFeedOfMany checks that the positions of a feed with very many ranges are short, both while the ranges are
// written and when they are idle, and that each commit is read once.
func TestFeedOfMany(t *testing.T) {
	t.Parallel()
	const n = 250
	w, partitions := many(t, n, 8)
	if err := w.declare(&table.Traits{Feed: &table.Feed{Keep: 7 * 24 * 3600 * edm.TicksPerSecond}}); err != nil {
		t.Fatal(err)
	}
	asked := 0
	w.network = func(durableobject.Call) fate { asked++; return fate{} }
	changes := func(r table.FeedRequest) table.FeedPage {
		t.Helper()
		asked = 0
		page, err := w.store.Changes(t.Context(), tableKey, r)
		if err != nil {
			t.Fatal(err)
		}
		if asked > 45 {
			t.Errorf("a page takes %d calls", asked)
		}
		return page
	}
	page := changes(table.FeedRequest{})
	seen := map[string]int{}
	longest, rounds := 0, 0
	follow := func() {
		t.Helper()
		for {
			rounds++
			page = changes(table.FeedRequest{From: &page.Next, Changes: 1000})
			longest = max(longest, len(page.Next.At))
			for _, c := range page.Commits {
				for i := range c.Changes {
					seen[string(c.Changes[i].Key)]++
				}
			}
			if !page.More {
				return
			}
		}
	}
	idle := len(page.Next.At)
	for round := range 3 {
		for i, partition := range partitions {
			w.put(partition, fmt.Sprint("r", round))
			w.clock.t += edm.Ticks(i%7+1) * edm.TicksPerSecond / 3
		}
		follow()
	}
	if len(seen) != 3*n {
		t.Errorf("%d changes came, want %d", len(seen), 3*n)
	}
	for k, times := range seen {
		if times != 1 {
			t.Errorf("%q came %d times", k, times)
		}
	}
	w.clock.t += 3600 * edm.TicksPerSecond
	follow()
	t.Logf("positions have %d bytes at first, at most %d, and %d when the table is idle; %d pages", idle, longest, len(page.Next.At), rounds)
	if idle > 100 || longest > 6*n || len(page.Next.At) > 100 {
		t.Errorf("positions have %d bytes at first, at most %d, and %d when the table is idle", idle, longest, len(page.Next.At))
	}
	if !bytes.Equal(page.Next.At, changes(table.FeedRequest{From: &page.Next}).Next.At) && len(page.Next.At) > 100 {
		t.Error("the position of an idle table grows")
	}
}

// TestFeedBeginsAmongMoves checks a new reader, which asks the catalog in several messages where the feed ends.
// Between two of these messages, a range merges into its neighbour. The reader must still get all commits of
// all ranges.
func TestFeedBeginsAmongMoves(t *testing.T) {
	t.Parallel()
	w, partitions := many(t, 45, 8)
	w.feeding(7)
	leaves := false
	w.network = func(c durableobject.Call) fate {
		if r := message.Read(c.Message[2:]); opOf(c) == message.OpFeeds && !leaves && r.Text() != "" && r.Size() > 0 {
			leaves = true
			m := table.Mutation{Key: at(partitions[3], "r"), Kind: table.Delete}
			if _, err := w.store.Commit(t.Context(), tableKey, []table.Mutation{m}); err != nil {
				t.Error(err)
			}
			w.hours(3)
		}
		return fate{}
	}
	page, err := w.store.Changes(t.Context(), tableKey, table.FeedRequest{})
	if err != nil || !leaves || len(w.remaining()) != 44 {
		t.Fatalf("%d ranges, left %t, %v", len(w.remaining()), leaves, err)
	}
	for _, partition := range partitions {
		w.put(partition, "later")
	}
	from := &page.Next
	list, err := w.changes(&from)
	for _, partition := range partitions {
		if !slices.Contains(list, "put "+partition+"/later ") {
			t.Errorf("the change of %s is missing, %v", partition, err)
		}
	}
}
