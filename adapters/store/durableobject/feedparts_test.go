package durableobject_test

import (
	"bytes"
	"fmt"
	"maps"
	"testing"

	"edgetable/adapters/store/durableobject"
	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// TestFeedMovedParts checks large commits whose entities have moved to another range since. The page gets these
// entities with OpLook, and must divide the commits as it divides other commits. No answer of a range and no page may
// be much larger than a part.
func TestFeedMovedParts(t *testing.T) {
	t.Parallel()
	const commits, rows, size = 4, 7, 900 << 10
	w := newRanges(t, 1, 20<<20, 0)
	w.feeding(7)
	from, err := w.store.Changes(t.Context(), tableKey, table.FeedRequest{})
	if err != nil {
		t.Fatal(err)
	}
	commit := func(list []table.Mutation) {
		if _, err := w.store.Commit(t.Context(), tableKey, list); err != nil {
			t.Fatal(err)
		}
	}
	want := ""
	for _, i := range []int{2, 3, 0, 1} { // not in key order, so that a split moves only some of these partitions
		partition := "p" + string(rune('0'+i))
		var merges []table.Mutation
		for row := range rows {
			k := at(partition, string(rune('a'+row)))
			large := edm.AppendProperty(nil, "w", edm.Binary(bytes.Repeat([]byte{1}, size)))
			commit([]table.Mutation{{Key: k, Nonce: 1, Properties: large}})
			merges = append(merges, table.Mutation{Key: k, Kind: table.Merge, Condition: table.Present, Nonce: 2, Properties: edm.AppendProperty(nil, "v", edm.String("2"))})
			want += partition + string(rune('a'+row)) + " "
		}
		commit(merges)
	}
	w.rest()
	if w.begun == 0 || w.moved == 0 {
		t.Fatalf("%d splits moved %d entities", w.begun, w.moved)
	}
	looks, largest := 0, 0
	w.network = func(c durableobject.Call) fate {
		if opOf(c) == message.OpLook {
			looks++
		}
		return fate{}
	}
	got, parts := "", 0
	for r := (table.FeedRequest{From: &from.Next, Bytes: table.LargestPart}); ; {
		page, err := w.store.Changes(t.Context(), tableKey, r)
		if err != nil {
			t.Fatal(err)
		}
		bytes := 0
		for _, c := range page.Commits {
			for i := range c.Changes {
				if row := c.Changes[i].Row; row != nil {
					bytes += len(row.Properties)
				}
			}
			if c.All == 1 {
				continue // the insert of an entity; it has no content, because the merge is a later change
			}
			if c.All != rows {
				t.Errorf("a commit has %d changes in all, want %d", c.All, rows)
			}
			if len(c.Changes) < rows {
				parts++
			}
			for i := range c.Changes {
				partition, row := key.Decode(c.Changes[i].Key)
				got += partition + row + " "
			}
			after := page.Next
			after.At = c.At
			if _, err := w.store.Changes(t.Context(), tableKey, table.FeedRequest{From: &after}); err != nil {
				t.Errorf("after a commit of the page: %v", err)
			}
		}
		largest = max(largest, bytes)
		if !page.More {
			break
		}
		r.From = &page.Next
	}
	if got != want {
		t.Errorf("the feed has %s\nwant %s", got, want)
	}
	if looks == 0 || parts != rows*commits || largest > 3<<20 {
		t.Errorf("%d messages OpLook, %d parts, a page of %d bytes", looks, parts, largest)
	}
}

// TestFeedPartsInWindows checks large batches in more ranges than one page asks. A position can be inside one commit only,
// so the pages must finish this commit before they ask other ranges.
func TestFeedPartsInWindows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		buckets         uint16
		window, batches int
	}{{4, 2, 12}, {40, 0, 60}} {
		w := newRanges(t, c.buckets, 100<<20, 0)
		if c.window > 0 {
			w.store.AskAtOnce(c.window)
		}
		w.feeding(7)
		from, err := w.store.Changes(t.Context(), tableKey, table.FeedRequest{})
		if err != nil {
			t.Fatal(err)
		}
		const rows = 30
		want := map[string]int{}
		for i := range c.batches {
			var list []table.Mutation
			for row := range rows {
				k := at(fmt.Sprintf("p%02d", i), fmt.Sprintf("%02d", row))
				list = append(list, table.Mutation{Key: k, Nonce: 1, Properties: edm.AppendProperty(nil, "w", edm.Binary(make([]byte, 40_000)))})
				want[string(k)] = 1
			}
			if _, err := w.store.Commit(t.Context(), tableKey, list); err != nil {
				t.Fatal(err)
			}
		}
		got, pages := map[string]int{}, 0
		for r := (table.FeedRequest{From: &from.Next, Bytes: 2 << 20}); ; pages++ {
			page, err := w.store.Changes(t.Context(), tableKey, r)
			if err != nil || pages > 10*c.batches {
				t.Fatalf("%d buckets: after %d pages %d of %d changes, %v", c.buckets, pages, len(got), len(want), err)
			}
			for _, commit := range page.Commits {
				for i := range commit.Changes {
					got[string(commit.Changes[i].Key)]++
				}
			}
			if !page.More {
				break
			}
			r.From = &page.Next
		}
		if !maps.Equal(got, want) {
			t.Errorf("%d buckets: %d pages have %d of %d changes, or some twice", c.buckets, pages, len(got), len(want))
		}
	}
}
