package table

import (
	"context"

	"edgetable/core/edm"
	"edgetable/core/key"
)

// Feeding is a [Store] that keeps feeds. A feed has a line for each commit to a table with
// [Traits].Feed, written with the commit: which entities it put, deleted or expired. It has
// no content: that is read from the entities as they are.
type Feeding interface {
	// Changes returns the next commits of a feed. It shows only commits that nothing can
	// undo, and a commit that it does not show yet comes later in the feed: who reads page
	// after page gets each commit, and those of an entity in their order.
	//
	// It answers [ErrNoTable], [ErrNoFeed], and for a position that the feed cannot continue
	// [ErrFeedExpired], [ErrFeedEnded] or [ErrHistory].
	Changes(ctx context.Context, t RecordKey, r FeedRequest) (FeedPage, error)
	// AwaitChanges returns when Changes may have more behind a position, and when ctx ends.
	// Nothing happens while nothing changes.
	AwaitChanges(ctx context.Context, t RecordKey, at FeedPosition) error
	// TrimFeeds removes from all feeds, those of dropped tables too, what is older at an instant
	// than they keep. Whoever has not read it is answered [ErrFeedExpired].
	TrimFeeds(ctx context.Context, now edm.Ticks) error
}

// History names a succession of states of a store, so that a position of before a restore is
// not taken for one of after it.
type History [8]byte

// FeedPosition is a place in a feed: all before it was read.
type FeedPosition struct {
	Life    Incarnation
	History History
	At      []byte // of the store
}

// FeedRequest asks for a page of a feed.
type FeedRequest struct {
	// From is where the page begins; nil: at the end of the feed, so that the page is empty.
	From *FeedPosition
	// Oldest begins at the oldest change that is kept, if there is no From.
	Oldest bool
	// Within has the keys whose changes are asked for.
	Within key.Range
	// A page ends behind the commit with which it has this many changes, or this many bytes of
	// keys and properties; and behind some thousand commits without changes in Within.
	Changes, Bytes int
}

// FeedPage is what Changes returns.
type FeedPage struct {
	Commits []FeedCommit
	// Next is the position behind the page; it is newer than that of the request also where
	// the page is empty, if anything happened.
	Next FeedPosition
	// More says that the page ended because of its limits.
	More bool
	// Keep is for how long the feed keeps changes; 0: it is not known.
	Keep edm.Ticks
}

// FeedCommit is a commit of a feed.
type FeedCommit struct {
	Ticks   edm.Ticks
	At      []byte // the position behind it
	Changes []FeedChange
	// Dropped says that the table was dropped: nothing comes behind it.
	Dropped bool
}

// FeedChange is what a commit did to an entity.
type FeedChange struct {
	Kind Kind // Put, also for a merge; Delete; Expire
	Key  []byte
	// Row is the entity that was put, or nil if it was written or removed again since: then
	// a later change of the feed has it.
	Row *Row
	// Ended is when the entity ended by the rule of its table: one that was expired, or one that
	// is stored still although it has ended. Otherwise it is 0.
	Ended edm.Ticks
}

// Changes returns a page of the feed of a table. Without a number of Bytes it has the bytes of a page of a query.
func (s *Service) Changes(ctx context.Context, n Name, r FeedRequest) (FeedPage, error) {
	f, err := s.feeding(n)
	if err != nil {
		return FeedPage{}, err
	}
	if r.Bytes == 0 {
		r.Bytes = s.budget.Bytes
	}
	s.call()
	page, err := f.Changes(ctx, n.Key(), r)
	changes, size := 0, 0
	for i := range page.Commits {
		changes += len(page.Commits[i].Changes)
		for j := range page.Commits[i].Changes {
			c := &page.Commits[i].Changes[j]
			if size += len(c.Key); c.Row != nil {
				size += len(c.Row.Properties)
			}
		}
	}
	s.ended(changes, size)
	if err != nil {
		return FeedPage{}, protocolError(err)
	}
	return page, nil
}

// AwaitChanges waits until there may be changes behind a position, or ctx ends.
func (s *Service) AwaitChanges(ctx context.Context, n Name, at FeedPosition) error {
	f, err := s.feeding(n)
	if err != nil {
		return err
	}
	if err = f.AwaitChanges(ctx, n.Key(), at); err != nil {
		return protocolError(err)
	}
	return nil
}

func (s *Service) feeding(n Name) (Feeding, error) {
	if err := n.check(); err != nil {
		return nil, err
	}
	f, ok := As[Feeding](s.store)
	if !ok {
		return nil, NotImplemented.With(NotImplemented.Err().Message + " A feed of changes is not kept by " + s.home() + ".")
	}
	return f, nil
}

// TrimFeeds removes from all feeds of the store what is older than they keep, and what will be in a time from now on:
// so a store that is full gets space.
func (s *Service) TrimFeeds(ctx context.Context, ahead edm.Ticks) error {
	f, ok := As[Feeding](s.store)
	if !ok {
		return nil
	}
	return f.TrimFeeds(ctx, s.now()+ahead)
}
