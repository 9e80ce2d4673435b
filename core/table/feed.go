package table

import (
	"context"

	"edgetable/core/edm"
	"edgetable/core/key"
)

// Feeding is a [Store] that keeps feeds. A feed has one line for each commit to a table with [Traits].Feed. The line
// is written with the commit and lists the entities that it put, deleted or expired. It does not have their content,
// which is read from the stored entities.
type Feeding interface {
	// Changes returns the next commits of a feed, but only those that can no longer be undone. Other commits get
	// positions after all returned ones. So a client that reads page after page gets every commit, and the commits
	// of one entity in order.
	//
	// It fails with [ErrNoTable] or [ErrNoFeed]. If the feed cannot continue from the position, it fails with
	// [ErrFeedExpired], [ErrFeedEnded] or [ErrHistory].
	Changes(ctx context.Context, t RecordKey, r FeedRequest) (FeedPage, error)
	// AwaitChanges returns when Changes may have more after a position, or when ctx ends. It does no work while
	// nothing changes.
	AwaitChanges(ctx context.Context, t RecordKey, at FeedPosition) error
	// TrimFeeds removes all changes that, at an instant, are older than the time for which their feed keeps them. It
	// also trims the feeds of dropped tables. A client that has not read the removed changes gets [ErrFeedExpired].
	TrimFeeds(ctx context.Context, now edm.Ticks) error
}

// History identifies one continuous history of a store. A restore begins a new history, so that a position that was
// issued before the restore is not mistaken for one that was issued afterwards.
type History [8]byte

// FeedPosition is a position in a feed. Everything before it has been read.
type FeedPosition struct {
	Incarnation Incarnation
	History     History
	At          []byte // the position in the format of the store
}

// FeedRequest asks for a page of a feed.
type FeedRequest struct {
	// From is the start of the page. If it is nil, the page starts at the end of the feed and is empty, unless Oldest
	// is set.
	From *FeedPosition
	// Oldest starts the page at the oldest change that is kept. It is used only if From is nil.
	Oldest bool
	// Within is the range of keys whose changes the page shows.
	Within key.Range
	// The page ends after the commit that brings it to this many changes, or to this many bytes of keys and
	// properties. It also ends after some thousand commits without a change in Within.
	Changes, Bytes int
}

// FeedPage is the result of Changes.
type FeedPage struct {
	Commits []FeedCommit
	// Next is the position after the page. Even for an empty page it is newer than the position of the request, if
	// anything was committed since.
	Next FeedPosition
	// More is set if a limit ended the page.
	More bool
	// Keep is how long the feed keeps changes; 0: unknown.
	Keep edm.Ticks
}

// FeedCommit is one commit in a feed.
type FeedCommit struct {
	Ticks   edm.Ticks
	At      []byte // the position after the commit
	Changes []FeedChange
	// Dropped is set if the table was dropped. It is then the last commit of the feed.
	Dropped bool
}

// FeedChange is what a commit did to an entity.
type FeedChange struct {
	Kind Kind // Put (also for a merge), Delete or Expire
	Key  []byte
	// Row is the entity that was put. It is nil if the entity was written or removed since then; in that case a later
	// change shows the newer state.
	Row *Row
	// Ended is when the entity ended by the rule of its table. It is set if the change is an Expire, or if the entity
	// has ended and is still stored. Otherwise it is 0.
	Ended edm.Ticks
}

// Changes returns a page of the feed of a table. If r.Bytes is 0, the limit is that of a query's page.
func (s *Service) Changes(ctx context.Context, n Name, r FeedRequest) (FeedPage, error) {
	f, err := s.feeding(n)
	if err != nil {
		return FeedPage{}, err
	}
	if r.Bytes == 0 {
		r.Bytes = s.budget.Bytes
	}
	s.startCall()
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
	s.finishCall(changes, size)
	if err != nil {
		return FeedPage{}, protocolError(err)
	}
	return page, nil
}

// AwaitChanges waits until there may be changes after a position, or ctx ends.
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
		return nil, NotImplemented.With(NotImplemented.Err().Message + " Change feeds are not supported by " + s.home() + ".")
	}
	return f, nil
}

// TrimFeeds removes from all feeds of the store the changes that are older than the time for which their feed keeps
// them, or will be within the duration ahead. A positive ahead frees more space in a store that is full.
func (s *Service) TrimFeeds(ctx context.Context, ahead edm.Ticks) error {
	f, ok := As[Feeding](s.store)
	if !ok {
		return nil
	}
	return f.TrimFeeds(ctx, s.now()+ahead)
}
