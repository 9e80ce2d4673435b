package table

import (
	"context"

	"edgetable/core/edm"
	"edgetable/core/key"
)

// Feeding is a [Store] whose tables can have a change feed. The feed of a table has one line (a record of bytes) for
// each commit to the table, written together with the commit. The line lists the keys of the entities that the commit
// put, deleted or expired. It does not contain their properties, which a reader gets from the stored entities.
type Feeding interface {
	// Changes returns the next commits of a feed. It leaves out commits that may still be undone. Such a commit has a
	// higher position than all returned commits, so a later page can contain it. A client that reads page after page
	// gets every commit. It gets the commits of one entity in their order.
	//
	// It fails with [ErrNoTable] or [ErrNoFeed]. If the feed cannot continue from the position, it fails with
	// [ErrFeedExpired], [ErrFeedEnded] or [ErrHistory].
	Changes(ctx context.Context, t RecordKey, r FeedRequest) (FeedPage, error)
	// AwaitChanges returns when the feed may have changes after a position, or when ctx ends. It does no work while
	// the table does not change.
	AwaitChanges(ctx context.Context, t RecordKey, at FeedPosition) error
	// TrimFeeds removes from each feed the changes that, at the instant now, are older than the feed's Keep. It also
	// does so for the feeds of dropped tables. A client that has not read the removed changes yet gets
	// [ErrFeedExpired].
	TrimFeeds(ctx context.Context, now edm.Ticks) error
}

// History identifies one continuous history of a store. A restore begins a new history. So the store can recognise a
// position that it issued before the restore.
type History [8]byte

// FeedPosition is a position in a feed. A client that has this position has read everything before it.
type FeedPosition struct {
	Incarnation Incarnation
	History     History
	At          []byte // the position in the format of the store
}

// FeedRequest selects a page of a feed.
type FeedRequest struct {
	// From is the position where the page starts. If From is nil and Oldest is not set, the page is empty and its
	// position is the end of the feed.
	From *FeedPosition
	// Oldest makes the page start at the oldest change that the feed still has. It has an effect only if From is nil.
	Oldest bool
	// Within is a range of keys. The page contains only changes of entities in this range.
	Within key.Range
	// The page ends after the commit with which it reaches this number of changes, or this number of bytes of keys and
	// properties. The page also ends after some thousand commits that change no entity in the range Within, and inside
	// a commit whose entities are larger than [LargestPart].
	Changes, Bytes int
}

// FeedPage is the result of Changes.
type FeedPage struct {
	Commits []FeedCommit
	// Next is the position after the page. If the store has committed anything after the position of the request, Next
	// is later, even for an empty page.
	Next FeedPosition
	// More is set if the page ended because of a limit.
	More bool
	// Keep is how long the feed keeps a change; 0 means unknown.
	Keep edm.Ticks
}

// LargestPart is the number of bytes of keys and properties after which a commit is divided between pages. A batch of
// inserts is never that large, but merges into large entities may be. Stores with little memory also divide smaller
// commits.
const LargestPart = 4 << 20

// FeedCommit is one commit in a feed, or a part of a commit: see [LargestPart].
type FeedCommit struct {
	Ticks   edm.Ticks
	At      []byte // the position after the commit, or after the part
	Changes []FeedChange
	// After returns the position inside the commit, after the change with the given Index; this change must not be the
	// last one. So a caller can divide a commit whose encoded form becomes too large.
	After func(index int) []byte
	// All is the number of changes of the whole commit, all its parts together, in the range of the request.
	All int
	// Dropped is set if the table was dropped. This commit is then the last one of the feed.
	Dropped bool
}

// FeedChange is the change of one entity by a commit.
type FeedChange struct {
	Kind  Kind // Put (which includes merges), Delete or Expire
	Index int  // the number of changes of the whole commit up to and including this one
	Key   []byte
	// Row is the entity after a Put. It is nil if the entity was written or removed again since then. A later change
	// of the feed then has the newer state.
	Row *Row
	// Ended is the instant at which the entity expired by the rule of its table. It is set if the change is an
	// Expire, or if an expired entity is still stored. Otherwise it is 0.
	Ended edm.Ticks
}

// Size returns the number of bytes of the key and of the entity's properties.
func (c *FeedChange) Size() int {
	if c.Row == nil {
		return len(c.Key)
	}
	return len(c.Key) + len(c.Row.Properties)
}

// Changes returns a page of a table's feed. If r.Bytes is 0, the page has the same limit of bytes as the page of a
// query.
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
			size += page.Commits[i].Changes[j].Size()
		}
	}
	s.finishCall(changes, size)
	if err != nil {
		return FeedPage{}, protocolError(err)
	}
	return page, nil
}

// AwaitChanges waits until the feed may have changes after a position, or until ctx ends.
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

// TrimFeeds removes old changes from all feeds of the store. With ahead = 0, a change is removed if it is older
// than the feed's Keep. With a positive duration, TrimFeeds also removes the changes that will reach this age
// within the duration. So a caller can free more space in a store that is full.
func (s *Service) TrimFeeds(ctx context.Context, ahead edm.Ticks) error {
	f, ok := As[Feeding](s.store)
	if !ok {
		return nil
	}
	return f.TrimFeeds(ctx, s.now()+ahead)
}
