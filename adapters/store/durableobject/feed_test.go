package durableobject_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

const day = 24 * 3600 * edm.TicksPerSecond

// This method declares a feed for the table. The feed keeps its lines for the given number of days.
func (w *ranges) feeding(days edm.Ticks) {
	w.t.Helper()
	if err := w.declare(&table.Traits{Feed: &table.Feed{Keep: days * day}}); err != nil {
		w.t.Fatal(err)
	}
}

// This method returns the lines of the feed after a position, and moves the position past these lines. If the
// position is nil, the lines begin with the oldest one.
func (w *ranges) changes(at **table.FeedPosition) (list []string, err error) {
	r := table.FeedRequest{From: *at, Oldest: true}
	for {
		page, err := w.store.Changes(w.t.Context(), tableKey, r)
		if err != nil {
			return list, err
		}
		*at = &page.Next
		for _, c := range page.Commits {
			text := ""
			for i := range c.Changes {
				p, row := key.Decode(c.Changes[i].Key)
				text += fmt.Sprint([...]string{table.Put: "put", table.Delete: "delete", table.Expire: "expire"}[c.Changes[i].Kind], " ", p, "/", row, " ")
			}
			if c.Dropped {
				text = "dropped"
			}
			list = append(list, text)
		}
		if !page.More {
			return list, nil
		}
		r.From = *at
	}
}

// This method counts the days for which the objects have lines. It also counts the heads (rows with the state
// of a feed).
func (w *ranges) days() (days, heads int) {
	for _, n := range w.all() {
		last := ""
		for _, r := range n.rows.Rows {
			if r.Key[0] == 'F' {
				heads++
			}
			if r.Key[0] == 'f' && string(r.Key[:4]) != last {
				last = string(r.Key[:4])
				days++
			}
		}
	}
	return days, heads
}

// TestFeedDays checks that lines are removed by whole days, when the whole day is older than the feed must keep.
// The lines of a dropped table are removed in the same way, and then its object has no rows.
func TestFeedDays(t *testing.T) {
	t.Parallel()
	w := newRanges(t, 1, 0, 0)
	w.feeding(3)
	var first *table.FeedPosition
	if _, err := w.changes(&first); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		w.put("p", "r")
		w.clock.t += day
		w.ring(w.clock.t)
	}
	if days, heads := w.days(); days > 5 || heads != 1 {
		t.Errorf("%d days, %d heads", days, heads)
	}
	var at *table.FeedPosition
	if list, err := w.changes(&at); err != nil || len(list) != 3 {
		t.Errorf("the changes of three days: %q, %v", list, err)
	}
	if _, err := w.changes(&first); !errors.Is(err, table.ErrFeedExpired) {
		t.Errorf("a position of ten days ago: %v", err)
	}
	w.evict()
	drop := func() {
		t.Helper()
		d, err := w.store.ReadRecord(t.Context(), tableKey, table.Strong)
		if err == nil {
			err = w.store.Drop(t.Context(), tableKey, d.Revision)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	drop()
	w.evict()
	if list, err := w.changes(&at); err != nil || !slices.Equal(list, []string{"dropped"}) {
		t.Errorf("after the drop: %q, %v", list, err)
	}
	create(t, w.store, 2)
	w.feeding(3)
	w.put("p", "r")
	drop()
	for range 8 {
		w.clock.t += day
		w.ring(w.clock.t)
	}
	for _, n := range w.all() {
		if rows := n.rows.Rows; len(rows) > 0 && !strings.HasPrefix(n.id.Name, "catalog/") {
			t.Errorf("%s has %d rows after the last day: %q", n.id.Name, len(rows), rows[0].Key)
		}
	}
	rang := 0
	for range 60 {
		w.clock.t += day
		rang += w.ring(w.clock.t)
	}
	if rang > 1 {
		t.Errorf("%d alarms when nothing is left", rang)
	}
}

// TestFeedPromise checks a position that a reader got while the table was idle. Every later commit must come after
// this position, even if the object restarts with a clock that is behind.
func TestFeedPromise(t *testing.T) {
	t.Parallel()
	w := newRanges(t, 1, 0, 0)
	w.feeding(3)
	w.put("p", "a")
	w.clock.t += 3600 * edm.TicksPerSecond
	var at *table.FeedPosition
	if _, err := w.changes(&at); err != nil {
		t.Fatal(err)
	}
	w.evict()
	w.clock.t -= 3000 * edm.TicksPerSecond
	w.put("p", "b")
	if list, err := w.changes(&at); err != nil || !slices.Equal(list, []string{"put p/b "}) {
		t.Errorf("after a restart with a clock that is behind: %q, %v", list, err)
	}
}

// TestFeedExpires checks that the feed contains the entities that the alarm removes, several of them in one commit.
func TestFeedExpires(t *testing.T) {
	t.Parallel()
	w := newRanges(t, 1, 0, 0)
	traits := withinASecond(w.clock.t)
	traits.Feed = &table.Feed{Keep: 3 * day}
	for i := range 5 {
		w.put(fmt.Sprint("p", i), "r")
	}
	if err := w.declare(traits); err != nil {
		t.Fatal(err)
	}
	var at *table.FeedPosition
	if _, err := w.changes(&at); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		w.clock.t += 1200 * edm.TicksPerSecond
		w.ring(w.clock.t)
	}
	if list, err := w.changes(&at); err != nil || !slices.Equal(list, []string{"expire p0/r expire p1/r expire p2/r expire p3/r expire p4/r "}) {
		t.Errorf("%q, %v", list, err)
	}
	if err := w.declare(&table.Traits{Feed: traits.Feed, Ending: &table.Expiry{After: 1, Since: traits.Expiry.Since, Until: w.clock.t}}); err != nil {
		t.Fatal(err)
	}
	w.hours(3) // the catalog removes the withdrawn rule from the record, and keeps the declared feed
	if r, err := w.store.ReadRecord(t.Context(), tableKey, table.Strong); err != nil || !r.Traits.Feeds() || r.Traits.Ending != nil {
		t.Errorf("the table declares %+v, %v", r.Traits, err)
	}
}

// TestFeedOfRestore checks that positions from before a restore are refused, and so are positions from before the
// undo of the restore.
func TestFeedOfRestore(t *testing.T) {
	t.Parallel()
	p := newRestored(t, 3)
	w := &ranges{cloud: p.cloud, t: t, clock: p.clock, store: p.store}
	w.feeding(3)
	p.clock.pass(10 * time.Minute)
	p.fill("first")
	first := p.keep()
	var at [3]*table.FeedPosition
	begin := func(i int) {
		t.Helper()
		page, err := w.store.Changes(t.Context(), tableKey, table.FeedRequest{})
		if err != nil {
			t.Fatal(err)
		}
		at[i] = &page.Next
	}
	refused := func(i int) {
		t.Helper()
		if _, err := w.store.Changes(t.Context(), tableKey, table.FeedRequest{From: at[i]}); !errors.Is(err, table.ErrHistory) {
			t.Errorf("position %d: %v", i, err)
		}
	}
	begin(0)
	p.fill("second")
	p.clock.pass(10 * time.Minute)
	if did := p.restore(first); did != allRestored {
		t.Fatalf("%q", did)
	}
	refused(0)
	begin(1)
	p.fill("third")
	if list, err := w.changes(&at[1]); err != nil || len(list) != 8 {
		t.Errorf("%d changes, %v", len(list), err)
	}
	p.clock.pass(10 * time.Minute)
	if did := p.restore(table.UndoRestore); did != allRestored {
		t.Fatalf("undo: %q", did)
	}
	refused(0)
	refused(1)
	begin(2)
	p.fill("fourth")
	if list, err := w.changes(&at[2]); err != nil || len(list) != 8 {
		t.Errorf("%d changes after the undo, %v", len(list), err)
	}
}

// TestFeedCosts checks that a feed costs one more written row for each commit, even for a commit of many entities.
// One more row is written each day. Reading a page sends one message to each range, and writes nothing.
func TestFeedCosts(t *testing.T) {
	t.Parallel()
	for _, ranges := range []int{1, 20} {
		var before, after counted
		for _, feeds := range []bool{false, true} {
			w, partitions := many(t, ranges, 60)
			if feeds {
				w.feeding(7)
			}
			commit := func(i, n int) error {
				w.clock.t += edm.TicksPerSecond / 1000
				var list []table.Mutation
				for j := range n {
					list = append(list, table.Mutation{Key: at(partitions[i%ranges], fmt.Sprint("i", i, " ", j)), Nonce: 1})
				}
				_, err := w.store.Commit(t.Context(), tableKey, list)
				return err
			}
			for i := range ranges {
				if err := commit(i, 1); err != nil {
					t.Fatal(err)
				}
			}
			m := newMeter(w.cloud)
			c := m.each(t, 200, func(i int) error { return commit(i, 1+99*(i%2)) })
			c.written -= float64(m.written["mc"]) / 200
			if before = after; true {
				after = c
			}
			if !feeds {
				continue
			}
			if m.written["f"] != 200 {
				t.Errorf("%d lines of 200 commits", m.written["f"])
			}
			page, err := w.store.Changes(t.Context(), tableKey, table.FeedRequest{})
			if err != nil {
				t.Fatal(err)
			}
			next := &page.Next
			look := func(int) error {
				page, err := w.store.Changes(t.Context(), tableKey, table.FeedRequest{From: next})
				next = &page.Next
				return err
			}
			if err := look(0); err != nil {
				t.Fatal(err)
			}
			if c := m.each(t, 50, look); c.objects != float64(ranges) || c.written != 0 {
				t.Errorf("%d ranges: a look when nothing happened costs %+v", ranges, c)
			}
		}
		if after.written != before.written+1 || after.objects != before.objects || after.read != before.read {
			t.Errorf("%d ranges: a commit costs %+v without a feed, and %+v with one", ranges, before, after)
		}
	}
}

// TestCodeBeforeFeeds checks that an earlier version of the code cannot parse the declared options (traits) of a table
// with a feed. The table's record, the rows of its objects, and the catalog's answers contain these options.
func TestCodeBeforeFeeds(t *testing.T) {
	t.Parallel()
	traits := &table.Traits{Feed: &table.Feed{Keep: day}}
	r := message.Read(message.AppendTraits(nil, traits))
	v := r.Bytes()
	if _, err := table.ParseRecord(table.RecordKey{}.String(), v); err == nil {
		t.Error("earlier code reads the traits")
	}
	r = message.Read(message.AppendTraits(nil, traits))
	if got := r.Traits(); !r.Done() || !message.SameTraits(got, traits) {
		t.Errorf("the traits are %+v", got)
	}
	ruled := withinASecond(1)
	r = message.Read(message.AppendTraits(nil, ruled))
	if v := r.Bytes(); v[0] != 0 {
		t.Error("traits without a feed have another form than before")
	}
}

// TestFeedOff checks that a table without a feed has no rows of a feed, and that no message about feeds is sent while
// the table splits and joins.
func TestFeedOff(t *testing.T) {
	t.Parallel()
	w := newRanges(t, 1, 5_000, 0)
	before := w.inside
	w.inside = func(c durableobject.Call) fate {
		if op := opOf(c); op >= message.OpLines {
			t.Errorf("a message of the operation %d", op)
		}
		return before(c)
	}
	for i := range 200 {
		w.put(fmt.Sprintf("p%03d", i*37%200), "r")
		w.ring(w.clock.t)
	}
	w.rest()
	w.hours(5)
	if days, heads := w.days(); days+heads > 0 || len(w.remaining()) < 2 {
		t.Errorf("%d days and %d heads of %d ranges", days, heads, len(w.remaining()))
	}
}
