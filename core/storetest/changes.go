package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// Changes checks the feed of a table. After any sequence of operations, a [follower] that has read the feed must have
// the same entities as the table.
func Changes(t *testing.T, h Harness) {
	run(t, h, []law{
		{"Refused", refusedFeed},
		{"Every", everyCommit},
		{"Large", largeCommits},
		{"Within", changesWithin},
		{"Superseded", supersededChanges},
		{"Expiry", expiryInAFeed},
		{"Bookmarks", bookmarks},
		{"Switched", switchedFeed},
		{"Trimmed", trimmedFeed},
		{"Dropped", droppedFeed},
		{"Restored", restoredFeed},
		{"Await", awaitChanges},
		{"Random", randomChanges},
		{"Weeks", weeksOfChanges},
		{"Concurrent", concurrentChanges},
	})
}

// refusedFeed checks that a store without feeds refuses a table that declares a feed.
func refusedFeed(e *env) {
	e.create("bbb")
	s := table.New(e.Store, table.Options{Now: e.clock.now, Rand: rand.Uint64})
	err := s.SetTableOptions(e.Context(), table.Name{Account: "acct", Table: "bbb"}, "", table.TableOptions{Changes: &table.Feed{Keep: keep}})
	if e.has.Feed {
		if err != nil {
			e.Errorf("SetTableOptions: %v", err)
		}
		return
	}
	if refused, ok := errors.AsType[*table.Error](err); !ok || refused.Code != table.OptionsInvalid {
		e.Errorf("SetTableOptions: %v, want OptionsInvalid", err)
	}
	r := newRecord("a", []byte("one"))
	r.Traits = &table.Traits{Feed: &table.Feed{Keep: keep}}
	e.tryRecord("with a feed", r, table.ErrUnsupported)
	e.expectNoRecord("after that", r.Key)
}

// everyCommit checks that for every size of a page, the feed contains each commit exactly once, as a whole and in
// order. The feed must not contain a refused commit.
func everyCommit(e *env) {
	_, n := e.createWithFeed()
	name := n.Key()
	from := e.end(name)
	var ticks []edm.Ticks
	var want []string
	commit := func(text string, m ...table.Mutation) {
		e.Helper()
		ticks, want = append(ticks, e.mustCommit(name, m...)), append(want, text)
	}
	commit(`put "p"/"a" {v:String=1}; `, put("p", "a", "1"))
	commit(`put "p"/"b" {v:String=1}; put "p"/"c"; `, put("p", "b", "1"), put("p", "c", "1"))
	merge := table.Mutation{Key: at("q", "a"), Kind: table.Merge, Properties: text("2"), Nonce: 1}
	commit(`put "q"/"a" {v:String=2}; `, merge)
	if _, err := e.commit(name, put("p", "d", "1"), absent(put("p", "a", "1"))); err == nil {
		e.Error("an insert of what exists")
	}
	commit(`delete "p"/"c"; put "p"/"e" {v:String=3}; `, remove("p", "c"), put("p", "e", "3"))
	for limit := range 5 {
		r := table.FeedRequest{From: from, Changes: limit}
		got := e.readRest(name, r)
		e.expectChanges(fmt.Sprintf("pages of %d", limit), got, want...)
		for i, c := range got {
			if c.Ticks != ticks[i] {
				e.Errorf("the commit %d has the Timestamp %d in the feed", ticks[i], c.Ticks)
			}
			again := e.readRest(name, table.FeedRequest{From: &table.FeedPosition{Incarnation: from.Incarnation, History: from.History, At: c.At}})
			e.expectChanges("behind "+want[i], again, want[i+1:]...)
		}
	}
	e.expectChanges("from the oldest", e.readRest(name, table.FeedRequest{Oldest: true}), want...)
	e.expectChanges("in pages of a byte", e.readRest(name, table.FeedRequest{From: from, Bytes: 1}), want...)
}

// changesWithin checks that a page contains only changes of the requested keys.
func changesWithin(e *env) {
	_, n := e.createWithFeed()
	name := n.Key()
	from := e.end(name)
	e.mustCommit(name, put("p", "a", "1"), put("p", "b", "1"), put("p", "c", "1"))
	e.mustCommit(name, put("q", "a", "1"))
	e.mustCommit(name, remove("p", "b"))
	in := key.Range{Start: at("p", "b"), End: at("p", "c")}
	e.expectChanges("one key", e.readRest(name, table.FeedRequest{From: from, Within: in, Changes: 1}), `put "p"/"b"; `, `delete "p"/"b"; `)
}

// supersededChanges checks a feed with two changes of the same entity. Only the later change must have the content of
// the entity.
func supersededChanges(e *env) {
	_, n := e.createWithFeed()
	name := n.Key()
	from := e.end(name)
	e.mustCommit(name, put("p", "a", "1"), put("p", "b", "1"))
	e.mustCommit(name, put("p", "a", "2"))
	e.mustCommit(name, remove("p", "b"))
	e.mustCommit(name, put("p", "b", "3"))
	e.expectChanges("four writes of two entities", e.readRest(name, table.FeedRequest{From: from}),
		`put "p"/"a"; put "p"/"b"; `, `put "p"/"a" {v:String=2}; `, `delete "p"/"b"; `, `put "p"/"b" {v:String=3}; `)
}

// expiryInAFeed checks that the feed contains the removal of an expired entity, with the instant of expiry. Before
// that, the last change of the entity must have this instant.
func expiryInAFeed(e *env) {
	if !e.has.Expiry {
		e.Skip("the store does not declare Expiry")
	}
	s, n := e.createWithFeed()
	name := n.Key()
	from := e.end(name)
	e.clock.step.Store(0)
	instant := edm.Ticks(e.clock.ticks.Load()) + 10*second
	e.mustCommit(name, table.Mutation{Key: at("p", "a"), Properties: ends(instant, "1"), Nonce: 1})
	if c := e.readRest(name, table.FeedRequest{From: from}); len(c) != 1 || c[0].Changes[0].Row == nil || c[0].Changes[0].ExpiredAt != 0 {
		e.Errorf("before its end: %+v", c)
	}
	e.clock.advance(11 * second)
	if c := e.readRest(name, table.FeedRequest{From: from}); len(c) != 1 || c[0].Changes[0].Row == nil || c[0].Changes[0].ExpiredAt != instant {
		e.Errorf("after its end: %+v", c)
	}
	e.clock.advance(2 * table.UndoTime)
	if removed := e.upkeep(s, n); removed != 1 && !e.Removes {
		e.Fatalf("%d entities removed", removed)
	}
	c := e.readRest(name, table.FeedRequest{From: from})
	e.expectChanges("when it is removed", c, `put "p"/"a"; `, `expire "p"/"a"; `)
	if c[1].Changes[0].ExpiredAt != instant {
		e.Errorf("the change has the instant %d, want %d", c[1].Changes[0].ExpiredAt, instant)
	}
	e.mustCommit(name, table.Mutation{Key: at("p", "b"), Properties: ends(instant, "1"), Nonce: 1})
	from = e.end(name)
	e.mustCommit(name, absent(put("p", "b", "2")))
	e.expectChanges("an insert over it", e.readRest(name, table.FeedRequest{From: from}), `put "p"/"b" {v:String=2}; `)
}

// bookmarks checks that a position in a feed, however old, remains valid until a later change is removed. A page
// without changes must return a newer position.
func bookmarks(e *env) {
	s, n := e.createWithFeed()
	name := n.Key()
	from := e.end(name)
	e.mustCommit(name, put("p", "a", "1"))
	page, err := e.changes(name, table.FeedRequest{From: from, Within: key.Range{Start: at("x", "a"), End: at("x", "b")}})
	if err != nil || len(page.Commits) > 0 || string(page.Next.At) == string(from.At) {
		e.Errorf("a page without changes: %+v, %v", page, err)
	}
	e.expectChanges("behind it", e.readRest(name, table.FeedRequest{From: &page.Next}))
	e.clock.advance(2 * keep)
	if err := s.TrimFeeds(e.Context(), 0); err != nil {
		e.Fatal(err)
	}
	e.expectChanges("when it was trimmed", e.readRest(name, table.FeedRequest{From: &page.Next}))
	e.refuses("a position before what was trimmed", name, from, table.ErrFeedExpired)
	e.mustCommit(name, put("p", "b", "1"))
	e.expectChanges("a week later", e.readRest(name, table.FeedRequest{From: &page.Next}), `put "p"/"b" {v:String=1}; `)
	e.expectChanges("the oldest", e.readRest(name, table.FeedRequest{Oldest: true}), `put "p"/"b" {v:String=1}; `)
}

// switchedFeed checks that a reader gets an error if it has missed changes because the feed was off for a while.
func switchedFeed(e *env) {
	s, n := e.createWithFeed()
	name := n.Key()
	e.create("plain")
	e.refuses("a table without", tableKey("plain"), nil, table.ErrNoFeed)
	from := e.end(name)
	e.mustCommit(name, put("p", "a", "1"))
	if err := s.SetTableACL(e.Context(), n, []byte("<one/>")); err != nil {
		e.Fatal(err)
	}
	e.expectChanges("after a change of the record", e.readRest(name, table.FeedRequest{From: from}), `put "p"/"a" {v:String=1}; `)
	e.feed(s, n, false)
	e.refuses("when it is off", name, from, table.ErrNoFeed)
	e.mustCommit(name, put("p", "b", "1"))
	e.feed(s, n, true)
	e.refuses("when it is on again", name, from, table.ErrFeedExpired)
	e.mustCommit(name, put("p", "c", "1"))
	e.expectChanges("the oldest", e.readRest(name, table.FeedRequest{Oldest: true}), `put "p"/"c" {v:String=1}; `)
}

// trimmedFeed checks that changes older than the feed's Keep are removed. A reader that has not read the removed
// changes must get ErrFeedExpired.
func trimmedFeed(e *env) {
	s, n := e.createWithFeed()
	name := n.Key()
	from := e.end(name)
	e.mustCommit(name, put("p", "a", "1"))
	middle := e.end(name)
	e.clock.advance(keep / 2)
	e.mustCommit(name, put("p", "b", "1"))
	e.mustCommit(name, put("p", "c", "1"))
	e.clock.advance(keep/2 + maxAhead)
	if err := s.TrimFeeds(e.Context(), 0); err != nil {
		e.Fatal(err)
	}
	e.refuses("before what was trimmed", name, from, table.ErrFeedExpired)
	want := []string{`put "p"/"b" {v:String=1}; `, `put "p"/"c" {v:String=1}; `}
	e.expectChanges("behind it", e.readRest(name, table.FeedRequest{From: middle}), want...)
	e.expectChanges("the oldest", e.readRest(name, table.FeedRequest{Oldest: true}), want...)
	if e.Restart != nil {
		e.Store = e.Restart(e.clock.now)
		e.refuses("before what was trimmed, after a restart", name, from, table.ErrFeedExpired)
		e.expectChanges("after a restart", e.readRest(name, table.FeedRequest{From: middle}), want...)
	}
}

// droppedFeed checks that the drop of a table is the last change in its feed. The next table of the same name, and each
// other table, must have its own feed.
func droppedFeed(e *env) {
	s, n := e.createWithFeed()
	name := n.Key()
	from := e.end(name)
	e.mustCommit(name, put("p", "a", "1"))
	e.drop(name)
	want := []string{`put "p"/"a"; `, "dropped"}
	got := e.readRest(name, table.FeedRequest{From: from, Changes: 1})
	e.expectChanges("after the drop", got, want...)
	last := &table.FeedPosition{Incarnation: from.Incarnation, History: from.History, At: got[1].At}
	e.refuses("behind the drop", name, last, table.ErrFeedEnded)
	e.refuses("without a position", name, nil, table.ErrNoTable)
	e.refuses("another name", tableKey("other"), from, table.ErrFeedEnded)
	e.create(n.Table)
	e.feed(s, n, true)
	e.mustCommit(name, put("p", "b", "1"))
	e.expectChanges("of the dropped incarnation", e.readRest(name, table.FeedRequest{From: from}), want...)
	e.refuses("after the drop, with a new table", name, last, table.ErrFeedEnded)
	e.expectChanges("of the new incarnation", e.readRest(name, table.FeedRequest{Oldest: true}), `put "p"/"b" {v:String=1}; `)
	e.clock.advance(keep + maxAhead)
	if err := s.TrimFeeds(e.Context(), 0); err != nil {
		e.Fatal(err)
	}
	e.refuses("long after the drop", name, from, table.ErrFeedEnded)
}

// restoredFeed checks that a restored store refuses a position that was issued after the backup.
func restoredFeed(e *env) {
	_, n := e.createWithFeed()
	if e.Backup == nil {
		e.Skip("the fixture has no backups")
	}
	name := n.Key()
	e.mustCommit(name, put("p", "a", "1"))
	before := e.end(name)
	restore := e.Backup()
	e.mustCommit(name, put("p", "b", "1"))
	after := e.end(name)
	e.Store = restore(e.clock.now)
	e.mustCommit(name, put("p", "c", "1"))
	e.refuses("of after the backup", name, after, table.ErrHistory)
	if page, err := e.changes(name, table.FeedRequest{From: before}); err == nil {
		e.expectChanges("of before it", page.Commits, `put "p"/"c" {v:String=1}; `)
	} else if !errors.Is(err, table.ErrHistory) {
		e.Errorf("of before it: %v", err)
	}
	from := e.end(name)
	if e.Restart != nil {
		return // Restart would open the old store, which lacks the restored data
	}
	e.mustCommit(name, put("p", "d", "1"))
	e.expectChanges("and it goes on", e.readRest(name, table.FeedRequest{From: from}), `put "p"/"d" {v:String=1}; `)
}

// awaitChanges checks that AwaitChanges returns after a commit, after a drop, after the feed was switched off, and when
// the context is done.
func awaitChanges(e *env) {
	s, n := e.createWithFeed()
	name := n.Key()
	f, _ := table.As[table.Feeding](e.Store)
	from := e.end(name)
	woken := make(chan error, 1)
	wait := func(ctx context.Context, at *table.FeedPosition) {
		go func() {
			for { // AwaitChanges may return without a change
				err := f.AwaitChanges(ctx, name, *at)
				page, other := f.Changes(e.Context(), name, table.FeedRequest{From: at})
				if err != nil || other != nil || len(page.Commits) > 0 {
					woken <- errors.Join(err, other)
					return
				}
				at = &page.Next
			}
		}()
	}
	wait(e.Context(), from)
	e.mustCommit(name, put("p", "a", "1"))
	if err := <-woken; err != nil {
		e.Errorf("a commit: %v", err)
	}
	wait(e.Context(), from) // AwaitChanges must return immediately, because the feed has a change after the position
	if err := <-woken; err != nil {
		e.Errorf("a commit before the wait: %v", err)
	}
	ctx, cancel := context.WithCancel(e.Context())
	wait(ctx, e.end(name))
	cancel()
	if err := <-woken; !errors.Is(err, context.Canceled) {
		e.Errorf("the end of the context: %v", err)
	}
	wait(e.Context(), e.end(name))
	e.feed(s, n, false)
	if err := <-woken; !errors.Is(err, table.ErrNoFeed) {
		e.Errorf("a feed that was switched off: %v", err)
	}
	e.feed(s, n, true)
	wait(e.Context(), e.end(name))
	e.drop(name)
	if err := <-woken; err != nil {
		e.Errorf("a drop: %v", err)
	}
}

// follower is a client that copies a table: it reads the position at the end of the feed, lists the table, and applies
// later changes. It starts again if the feed cannot continue.
type follower struct {
	*env
	name   table.RecordKey
	limit  int
	at     *table.FeedPosition
	state  map[string]string // all entities as text; the map's key is the entity's key
	last   map[string]edm.Ticks
	begun  int
	events int
	busy   bool // whether the store may answer ErrBusy, because others write; then the page is read again
}

// start reads the position at the end of the feed, and lists all stored entities. The list includes expired entities,
// because the feed reports their removal later.
func (f *follower) start() {
	f.Helper()
	f.begun++
	f.state, f.last, f.at = map[string]string{}, map[string]edm.Ticks{}, nil
	page, err := f.changes(f.name, table.FeedRequest{})
	if errors.Is(err, table.ErrNoTable) || errors.Is(err, table.ErrNoFeed) {
		return
	}
	if err != nil {
		f.Fatalf("the end of the feed: %v", err)
	}
	f.state = f.stored()
	f.at = &page.Next
}

// stored returns all stored entities of the table, as text.
func (f *follower) stored() map[string]string {
	f.Helper()
	state := map[string]string{}
	if _, err := f.Store.ReadRecord(f.Context(), f.name, table.Strong); errors.Is(err, table.ErrNoRecord) {
		return state
	}
	for _, ended := range []bool{false, true} {
		for _, row := range f.rows(f.name, ended) {
			state[string(row.Key)] = formatRow(row)
		}
	}
	return state
}

// read reads a page, and reports whether there may be more pages.
func (f *follower) read() (more bool) {
	f.Helper()
	if f.at == nil {
		f.start()
		return f.at != nil
	}
	page, err := f.changes(f.name, table.FeedRequest{From: f.at, Changes: f.limit})
	switch {
	case err == nil:
	case errors.Is(err, table.ErrNoFeed), errors.Is(err, table.ErrFeedExpired), errors.Is(err, table.ErrFeedEnded), errors.Is(err, table.ErrHistory):
		f.at = nil
		return true
	case f.busy && errors.Is(err, table.ErrBusy):
		return true
	default:
		f.Fatalf("Changes: %v", err)
	}
	for i := range page.Commits {
		f.apply(&page.Commits[i])
	}
	if f.at != nil {
		f.at = &page.Next
	}
	return page.More || len(page.Commits) > 0
}

func (f *follower) apply(c *table.FeedCommit) {
	f.Helper()
	f.events++
	if c.Dropped {
		f.state, f.at = map[string]string{}, nil
		return
	}
	for i := range c.Changes {
		change := &c.Changes[i]
		k := string(change.Key)
		if c.Ticks <= f.last[k] {
			f.Errorf("%s at %d after a change at %d", showChange(change), c.Ticks, f.last[k])
		}
		f.last[k] = c.Ticks
		switch {
		case change.Kind != table.Put:
			delete(f.state, k)
		case change.Row != nil:
			if change.Row.Timestamp != c.Ticks {
				f.Errorf("%s at %d has the content of %d", showChange(change), c.Ticks, change.Row.Timestamp)
			}
			f.state[k] = formatRow(*change.Row)
		}
	}
}

// compare reads the rest of the feed, and fails the test if the follower's copy then differs from the table.
func (f *follower) compare(what string) {
	f.Helper()
	for f.read() {
	}
	want := f.stored()
	if f.at == nil {
		want = map[string]string{} // the table or its feed does not exist, so the follower must have no entities
	}
	for k, row := range want {
		if f.state[k] != row {
			f.Errorf("%s: the follower has %q, the table %q", what, f.state[k], row)
		}
	}
	for k, row := range f.state {
		if want[k] == "" {
			f.Errorf("%s: the follower has %q, and the table has not", what, row)
		}
	}
}

// randomChanges makes random writes, expiries, drops, restarts and restores, and turns the feed off and on. Then three
// followers must have the same entities as the table.
func randomChanges(e *env) {
	s, n := e.createWithFeed()
	name := n.Key()
	rnd := rand.New(rand.NewPCG(11, 13))
	followers := []*follower{{env: e, name: name, limit: 1}, {env: e, name: name, limit: 7}, {env: e, name: name}}
	var restore func(func() edm.Ticks) table.Store
	steps := e.repetitions(3000, 300)
	for range steps {
		switch rnd.IntN(150) {
		case 0:
			e.drop(name)
			followers[rnd.IntN(2)].read()
			e.create(n.Table)
			e.feed(s, n, true)
		case 1:
			e.feed(s, n, false)
			e.mustCommit(name, put("p", "a", "off"))
			e.feed(s, n, true)
		case 2:
			e.clock.advance([]edm.Ticks{second, keep / 3, keep}[rnd.IntN(3)])
		case 3:
			if err := s.TrimFeeds(e.Context(), 0); err != nil {
				e.Fatal(err)
			}
			followers[2*rnd.IntN(2)].compare("after a trim")
		case 4:
			if e.has.Expiry {
				e.upkeep(s, n)
			}
		case 5:
			if e.Restart != nil && rnd.IntN(4) == 0 {
				e.Store, restore = e.Restart(e.clock.now), nil
				s = table.New(declaring{e.Store}, table.Options{Now: e.clock.now, Rand: rand.Uint64})
			}
		case 6:
			if e.Backup == nil || e.Restart != nil {
				continue
			}
			if restore == nil {
				restore = e.Backup()
				continue
			}
			e.Store, restore = restore(e.clock.now), nil
			s = table.New(declaring{e.Store}, table.Options{Now: e.clock.now, Rand: rand.Uint64})
			followers[rnd.IntN(2)].compare("after a restore")
		case 7:
			followers[2].read()
		case 8, 9, 10:
			followers[rnd.IntN(2)].compare("meanwhile")
		default:
			if rnd.IntN(3) == 0 {
				followers[rnd.IntN(2)].read()
			}
			m := randomCommit(rnd, edm.Ticks(e.clock.ticks.Load()))
			if _, err := e.commit(name, m...); err != nil {
				if _, refused := errors.AsType[*table.Refused](err); !refused {
					e.Fatal(err)
				}
			}
		}
	}
	for i, f := range followers {
		f.compare(fmt.Sprintf("follower %d", i))
		e.Logf("follower %d began %d times and read %d commits", i, f.begun, f.events)
	}
	if followers[1].events == 0 || followers[1].begun < 2 {
		e.Error("the second follower has read nothing, or was never told to begin again")
	}
}

// weeksOfChanges simulates three weeks of a table whose store removes changes after a week. A client that reads every
// six days must miss no change. A client that reads every ten days must get an error.
func weeksOfChanges(e *env) {
	const hour = 3600 * second
	s, n := e.createWithFeed()
	name := n.Key()
	rnd := rand.New(rand.NewPCG(19, 23))
	prompt, slow, late := &follower{env: e, name: name}, &follower{env: e, name: name, limit: 50}, &follower{env: e, name: name}
	for _, f := range []*follower{prompt, slow, late} {
		f.start()
	}
	perHour := e.repetitions(8, 1)
	most := 0
	for hours := 1; hours <= 3*7*24; hours++ {
		for range perHour {
			if _, err := e.commit(name, randomCommit(rnd, edm.Ticks(e.clock.ticks.Load()))...); err != nil {
				if _, refused := errors.AsType[*table.Refused](err); !refused {
					e.Fatal(err)
				}
			}
		}
		if err := s.TrimFeeds(e.Context(), 0); err != nil {
			e.Fatal(err)
		}
		if hours%6 == 0 {
			prompt.compare("each six hours")
		}
		if hours%(6*24) == 0 {
			slow.compare("each six days")
			most = max(most, len(e.readRest(name, table.FeedRequest{Oldest: true})))
		}
		if hours%(10*24) == 0 {
			late.compare("each ten days")
		}
		e.clock.advance(hour)
	}
	for f, begun := range map[*follower]int{prompt: 1, slow: 1, late: 3} {
		if f.compare("at the end"); f.begun != begun || f.events == 0 {
			e.Errorf("a follower began %d times, want %d, and read %d commits", f.begun, begun, f.events)
		}
	}
	if kept := keep/hour + 2; most > int(kept)*perHour {
		e.Errorf("the feed had %d commits, of %d in an hour", most, perHour)
	}
}

// randomCommit returns mutations of a few entities in one partition.
func randomCommit(rnd *rand.Rand, now edm.Ticks) (m []table.Mutation) {
	p := string(rune('p' + rnd.IntN(2)))
	for _, r := range rnd.Perm(4)[:1+rnd.IntN(3)] {
		one := table.Mutation{Key: at(p, string(rune('a'+r))), Kind: table.Kind(rnd.IntN(3)), Nonce: rnd.Uint64()}
		if one.Kind == table.Delete {
			one.Condition = table.Present
		} else if one.Properties = text(string(rune('a' + rnd.IntN(26)))); rnd.IntN(4) == 0 {
			one.Properties = edm.AppendProperty(one.Properties, "E", edm.DateTime(now+edm.Ticks(rnd.IntN(7200))*second))
		}
		m = append(m, one)
	}
	return m
}

// concurrentChanges runs four writers and two followers. The feed must contain each successful commit, in order for
// each entity. The followers must end with the table's entities.
func concurrentChanges(e *env) {
	_, n := e.createWithFeed()
	name := n.Key()
	e.clock.step.Store(1)
	from := e.end(name)
	other := new(*e)
	other.Store = e.second(e.clock.now)
	stores := []table.Store{e.Store, other.Store}
	followers := []*follower{{env: e, name: name, limit: 3, busy: true}, {env: other, name: name, busy: true}}
	for _, f := range followers {
		f.start()
	}
	var mu sync.Mutex
	committed := map[edm.Ticks]int{}
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	for w := range 4 {
		rnd := rand.New(rand.NewPCG(uint64(w), 17))
		writers.Go(func() {
			for range e.repetitions(500, 50) {
				m := randomCommit(rnd, edm.Ticks(e.clock.ticks.Load()))
				ticks, err := stores[w%2].Commit(e.Context(), name, m)
				if err == nil {
					mu.Lock()
					committed[ticks] = len(m)
					mu.Unlock()
				}
			}
		})
	}
	for _, f := range followers {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					f.read()
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	for i, f := range followers {
		f.busy = false
		f.compare(fmt.Sprintf("follower %d", i))
		if f.begun != 1 {
			e.Errorf("follower %d began %d times", i, f.begun)
		}
		if f.events != len(committed) {
			e.Errorf("follower %d has read %d commits of %d", i, f.events, len(committed))
		}
	}
	for _, c := range e.readRest(name, table.FeedRequest{From: from}) {
		if committed[c.Ticks] != len(c.Changes) {
			e.Errorf("the commit at %d has %d changes in the feed, and %d mutations", c.Ticks, len(c.Changes), committed[c.Ticks])
		}
		delete(committed, c.Ticks)
	}
	if len(committed) > 0 {
		e.Errorf("%d commits are not in the feed", len(committed))
	}
}
