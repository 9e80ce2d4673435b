package storetest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

const (
	mergedRows = 8
	mergedRow  = 900 << 10 // size of the properties of each entity, in bytes
)

// largeCommits checks a commit larger than [table.LargestPart], which the feed contains in parts. Each change must be
// in one part, and a client must be able to continue after each.
func largeCommits(e *env) {
	s, n := e.createWithFeed()
	name := n.Key()
	first := e.end(name)
	merges := make([]table.Mutation, mergedRows)
	for i := range merges {
		row := string(rune('a' + i))
		large := edm.AppendProperty(text("1"), "w", edm.Binary(bytes.Repeat([]byte(row), mergedRow)))
		e.mustCommit(name, table.Mutation{Key: at("p", row), Properties: large, Nonce: 1})
		merges[i] = table.Mutation{Key: at("p", row), Kind: table.Merge, Condition: table.Present, Properties: text("2"), Nonce: 2}
	}
	from := e.end(name)
	ticks := e.mustCommit(name, merges...)
	small := e.mustCommit(name, put("q", "a", "1"))

	for _, r := range []table.FeedRequest{{From: from}, {From: from, Changes: 1}, {From: from, Changes: 1000}, {From: from, Bytes: 1}, {From: from, Bytes: 64 << 20}} {
		what := fmt.Sprintf("pages of %d changes or %d bytes", r.Changes, r.Bytes)
		got := e.readRest(name, r)
		e.expectParts(what, got, ticks, "abcdefgh")
		if last := got[len(got)-1]; last.Ticks != small || last.All != 1 {
			e.Errorf("%s: after the large commit: %+v", what, last)
		}
		for i := range got[:len(got)-1] {
			after := &table.FeedPosition{Incarnation: from.Incarnation, History: from.History, At: got[i].At}
			rest := e.readRest(name, table.FeedRequest{From: after})
			e.expectParts(what+", after a part", slices.Concat(got[:i+1], rest), ticks, "abcdefgh")
		}
	}
	e.expectParts("from the oldest", e.readRest(name, table.FeedRequest{From: first}), ticks, "abcdefgh")
	within := key.Range{Start: at("p", "b"), End: at("p", "h")}
	e.expectParts("some keys", e.readRest(name, table.FeedRequest{From: from, Within: within}), ticks, "bcdefg")

	middle, keys := e.end(name), ""
	batch := make([]table.Mutation, 100)
	for i := range batch {
		batch[i] = table.Mutation{Key: at("r", string(rune('A'+i))), Nonce: 1, Properties: edm.AppendProperty(nil, "w", edm.Binary(make([]byte, 40_000)))}
		keys += string(rune('A' + i))
	}
	inserted := e.mustCommit(name, batch...)
	got := ""
	for _, c := range e.readRest(name, table.FeedRequest{From: middle, Changes: 1000}) {
		for i := range c.Changes {
			_, row := key.Decode(c.Changes[i].Key)
			got += row
		}
		if c.Ticks != inserted || c.All != len(batch) {
			e.Errorf("a batch of 4 MB: %d changes in all at %d, want %d at %d", c.All, c.Ticks, len(batch), inserted)
		}
	}
	if got != keys {
		e.Errorf("a batch of 4 MB: the changes of %q, want %q", got, keys)
	}

	page, err := e.changes(name, table.FeedRequest{From: from})
	if err != nil || !page.More || len(page.Commits) != 1 {
		e.Fatalf("the first part: %d commits, more is %t, %v", len(page.Commits), page.More, err)
	}
	if e.Restart != nil {
		e.Store = e.Restart(e.clock.now)
		s = table.New(declaring{e.Store}, table.Options{Now: e.clock.now, Rand: rand.Uint64})
	}
	e.mustCommit(name, put("p", "a", "3"), put("p", "h", "3"))
	rest := e.readRest(name, table.FeedRequest{From: &page.Next})
	e.expectParts("the rest, after two entities were written again", slices.Concat(page.Commits, rest), ticks, "abcdefgh")
	for i := range rest {
		for j := range rest[i].Changes {
			if c := &rest[i].Changes[j]; rest[i].Ticks == ticks && (c.Row == nil) != (string(c.Key) == string(at("p", "h"))) {
				e.Errorf("the rest, after two entities were written again: %s has a row: %t", showKey(c.Key), c.Row != nil)
			}
		}
	}
	e.clock.advance(keep + maxAhead)
	e.mustCommit(name, put("q", "a", "2"))
	if err := s.TrimFeeds(e.Context(), 0); err != nil {
		e.Fatal(err)
	}
	e.refuses("inside a commit that was trimmed", name, &page.Next, table.ErrFeedExpired)
}

// expectParts checks that the parts of a commit contain the changes of the given rows, each once and in order, and that
// no part is too large.
func (e *env) expectParts(what string, got []table.FeedCommit, ticks edm.Ticks, rows string) {
	e.Helper()
	keys, parts := "", 0
	for _, c := range got {
		if c.Ticks != ticks {
			continue
		}
		parts++
		size := 0
		for j := range c.Changes {
			_, row := key.Decode(c.Changes[j].Key)
			if keys += row; c.Changes[j].Row != nil {
				size += len(c.Changes[j].Row.Properties)
			}
		}
		if size >= table.LargestPart+2*mergedRow {
			e.Errorf("%s: a part has %d bytes", what, size)
		}
		if c.All != len(rows) {
			e.Errorf("%s: the commit has %d changes in all, want %d", what, c.All, len(rows))
		}
	}
	if keys != rows {
		e.Errorf("%s: the parts have the changes of %q, want %q", what, keys, rows)
	}
	if parts < 2 {
		e.Errorf("%s: %d parts", what, parts)
	}
}
