package storetest_test

import (
	"context"
	"slices"

	"edgetable/core/edm"
	"edgetable/core/table"
	"edgetable/testdata/memstore"
)

// backupOf returns a function for [storetest.Fixture].Backup. This function makes a backup of the reference store
// inside a broken store.
func backupOf(s *memstore.Store, with func(table.Store) table.Store) func() func(func() edm.Ticks) table.Store {
	return func() func(func() edm.Ticks) table.Store {
		restore := s.Backup()
		return func(now func() edm.Ticks) table.Store {
			s = restore(now)
			if with == nil {
				return s
			}
			return with(s)
		}
	}
}

// brokenFeed is a store that changes the requests for pages of a feed, or the returned pages.
type brokenFeed struct {
	table.Store
	table.Feeding
	ask  func(*table.FeedRequest)
	page func(*table.FeedPage, *table.FeedRequest)
}

func (s brokenFeed) Unwrap() table.Store { return s.Store }

func (s brokenFeed) Changes(ctx context.Context, t table.RecordKey, r table.FeedRequest) (table.FeedPage, error) {
	if s.ask != nil {
		s.ask(&r)
	}
	page, err := s.Feeding.Changes(ctx, t, r)
	if err == nil && s.page != nil {
		s.page(&page, &r)
	}
	return page, err
}

func broke(s table.Store) brokenFeed {
	f, _ := table.As[table.Feeding](s)
	return brokenFeed{Store: s, Feeding: f}
}

// noDeletes returns a broken store whose feed omits deletes. A store has this bug if it finds changes by the Timestamps
// of stored entities.
func noDeletes(s table.Store) table.Store {
	b := broke(s)
	b.page = func(p *table.FeedPage, _ *table.FeedRequest) {
		for i := range p.Commits {
			c := &p.Commits[i]
			c.Changes = slices.DeleteFunc(c.Changes, func(c table.FeedChange) bool { return c.Kind == table.Delete })
		}
	}
	return b
}

// cutsBatches returns a broken store that ends a page of the feed inside a commit. The next page starts after this
// commit.
func cutsBatches(s table.Store) table.Store {
	b := broke(s)
	b.page = func(p *table.FeedPage, r *table.FeedRequest) {
		if n := len(p.Commits); n > 0 && r.Changes > 0 {
			c := &p.Commits[n-1]
			c.Changes = c.Changes[:min(r.Changes, len(c.Changes))]
		}
	}
	return b
}

// skipsRest returns a broken store that continues after a commit, although the position is inside this commit.
func skipsRest(s table.Store) table.Store {
	b := broke(s)
	b.ask = func(r *table.FeedRequest) {
		if r.From != nil && len(r.From.At) == 10 { // the reference store's position: a Timestamp, and a number of changes
			r.From = new(*r.From)
			r.From.At = append(slices.Clone(r.From.At[:8]), 0, 0)
		}
	}
	return b
}

// anyHistory returns a broken store that accepts the positions of another history, such as from before a restore.
func anyHistory(s table.Store) table.Store {
	b := broke(s)
	b.ask = func(r *table.FeedRequest) {
		if r.From == nil {
			return
		}
		for _, t := range []string{"feeding", "other"} {
			if page, err := b.Feeding.Changes(context.Background(), table.RecordKey{Account: "acct", Table: t}, table.FeedRequest{Oldest: true}); err == nil {
				r.From = new(*r.From)
				r.From.History = page.Next.History
			}
		}
	}
	return b
}

// silentGap returns a broken store that does not report removed changes: if changes after the position were removed, it
// returns the oldest changes that are left instead of an error.
func silentGap(s table.Store) table.Store { return gap{broke(s)} }

type gap struct{ brokenFeed }

func (s gap) Changes(ctx context.Context, t table.RecordKey, r table.FeedRequest) (table.FeedPage, error) {
	page, err := s.Feeding.Changes(ctx, t, r)
	if err == table.ErrFeedExpired {
		return s.Feeding.Changes(ctx, t, table.FeedRequest{Oldest: true, Within: r.Within, Changes: r.Changes, Bytes: r.Bytes})
	}
	return page, err
}

// newestFirst returns a broken store that returns the commits of a page in descending order.
func newestFirst(s table.Store) table.Store {
	b := broke(s)
	b.page = func(p *table.FeedPage, _ *table.FeedRequest) { slices.Reverse(p.Commits) }
	return b
}

// idleStands returns a broken store. If a page of a feed is empty, the store returns the position of the request. A
// correct store returns a newer position.
func idleStands(s table.Store) table.Store {
	b := broke(s)
	b.page = func(p *table.FeedPage, r *table.FeedRequest) {
		if len(p.Commits) == 0 && r.From != nil {
			p.Next = *r.From
		}
	}
	return b
}

// latestEverywhere returns a broken store whose feed shows the current content of an entity in every change of the
// entity. Only the last change should show this content.
func latestEverywhere(s table.Store) table.Store {
	b := broke(s)
	b.page = func(p *table.FeedPage, _ *table.FeedRequest) {
		for i := range p.Commits {
			for j := range p.Commits[i].Changes {
				c := &p.Commits[i].Changes[j]
				if row, err := s.Get(context.Background(), table.RecordKey{Account: "acct", Table: "feeding"}, c.Key, table.Strong); err == nil && c.Kind == table.Put {
					c.Row = &row
				}
			}
		}
	}
	return b
}

// everyKey returns a broken store whose feed also has the changes of keys that were not requested.
func everyKey(s table.Store) table.Store {
	b := broke(s)
	b.ask = func(r *table.FeedRequest) { r.Within.Start, r.Within.End = nil, nil }
	return b
}

// hidesEnded returns a broken store whose feed omits the content of entities that have expired but are still stored.
func hidesEnded(s table.Store) table.Store {
	b := broke(s)
	b.page = func(p *table.FeedPage, _ *table.FeedRequest) {
		for i := range p.Commits {
			for j := range p.Commits[i].Changes {
				if c := &p.Commits[i].Changes[j]; c.Kind == table.Put && c.ExpiredAt != 0 {
					c.Row = nil
				}
			}
		}
	}
	return b
}
