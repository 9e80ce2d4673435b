package storetest

import (
	"errors"
	"math/rand/v2"
	"slices"

	"edgetable/core/table"
)

// createWithFeed creates a table with a feed and a rule of expiry.
func (e *env) createWithFeed() (s *table.Service, name table.Name) {
	e.Helper()
	if !e.has.Feed {
		e.Skip("the store does not declare Feed")
	}
	s = table.New(declaring{e.Store}, table.Options{Now: e.clock.now, Rand: rand.Uint64})
	name = table.Name{Account: "acct", Table: "feeding"}
	e.create(name.Table)
	e.feed(s, name, true)
	return s, name
}

const (
	keep = 7 * 24 * 3600 * second
	// maxAhead is the maximum by which a Timestamp may be ahead of the clock: the Timestamps of a new table begin above
	// all Timestamps that the store has reserved.
	maxAhead = 10 * second
)

// feed turns the feed of a table on or off.
func (e *env) feed(s *table.Service, name table.Name, on bool) {
	e.Helper()
	o := table.TableOptions{Expire: &table.Expiry{Property: "E"}}
	if on {
		o.Changes = &table.Feed{Keep: keep}
	}
	if err := s.SetTableOptions(e.Context(), name, "", o); err != nil {
		e.Fatalf("SetTableOptions: %v", err)
	}
}

func (e *env) changes(name table.RecordKey, r table.FeedRequest) (table.FeedPage, error) {
	e.Helper()
	f, ok := table.As[table.Feeding](e.Store)
	if !ok {
		e.Fatal("the store declares Feed, and has no feed")
	}
	return f.Changes(e.Context(), name, r)
}

// end returns the position after the last change of the feed.
func (e *env) end(name table.RecordKey) *table.FeedPosition {
	e.Helper()
	page, err := e.changes(name, table.FeedRequest{})
	if err != nil || len(page.Commits) > 0 || page.More {
		e.Fatalf("the end of the feed: %+v, %v", page, err)
	}
	return &page.Next
}

// readRest returns all commits after the position in r.
func (e *env) readRest(name table.RecordKey, r table.FeedRequest) (list []table.FeedCommit) {
	e.Helper()
	for {
		page, err := e.changes(name, r)
		if err != nil {
			e.Fatalf("Changes: %v", err)
		}
		list = append(list, page.Commits...)
		if !page.More {
			return list
		}
		r.From, r.Oldest = &page.Next, false
	}
}

func (e *env) refuses(what string, name table.RecordKey, from *table.FeedPosition, want error) {
	e.Helper()
	if page, err := e.changes(name, table.FeedRequest{From: from}); !errors.Is(err, want) {
		e.Errorf("%s: %+v, %v, want %v", what, page, err, want)
	}
}

func showChange(c *table.FeedChange) string {
	what := [...]string{table.Put: "put", table.Delete: "delete", table.Expire: "expire"}[c.Kind] + " " + showKey(c.Key)
	if c.Row != nil {
		what += " {" + showProperties(c.Row.Properties) + "}"
	}
	return what
}

func showChanges(list []table.FeedCommit) (all []string) {
	for _, c := range list {
		text := ""
		for i := range c.Changes {
			text += showChange(&c.Changes[i]) + "; "
		}
		if c.Dropped {
			text += "dropped"
		}
		all = append(all, text)
	}
	return all
}

func (e *env) expectChanges(what string, got []table.FeedCommit, want ...string) {
	e.Helper()
	if list := showChanges(got); !slices.Equal(list, want) {
		e.Errorf("%s:\n got %q\nwant %q", what, list, want)
	}
	for i := 1; i < len(got); i++ {
		if got[i].Ticks <= got[i-1].Ticks {
			e.Errorf("%s: %d after %d", what, got[i].Ticks, got[i-1].Ticks)
		}
	}
}
