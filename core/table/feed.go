package table

import (
	"context"

	"edgetable/core/edm"
	"edgetable/core/key"
)

// Feeding is a [Store] whose tables can have a change feed: one line for each commit, with the changed keys. The line
// is written atomically with the commit. Readers get the properties from the stored entities.
type Feeding interface {
	// Changes returns the next commits of a feed. All pages together contain every commit, with the commits of each
	// entity in order. A commit that may still be undone is left to a later page.
	//
	// The error is [ErrNoTable] or [ErrNoFeed], or [ErrFeedExpired], [ErrFeedEnded] or [ErrHistory] if the feed cannot
	// continue from the position.
	Changes(ctx context.Context, t RecordKey, r FeedRequest) (FeedPage, error)
	// AwaitChanges returns when the feed may have changes after a position, or when ctx is done. It does no work while
	// the table does not change.
	AwaitChanges(ctx context.Context, t RecordKey, at FeedPosition) error
	// TrimFeeds removes changes that are older than their feed's Keep at the given instant, including changes of
	// dropped tables. A client that has not read a removed change gets [ErrFeedExpired].
	TrimFeeds(ctx context.Context, now edm.Ticks) error
}

// History identifies one history of a store. A restore begins a new history, so the store can recognize a position that
// it issued before the restore.
type History [8]byte

// FeedPosition is a position in a feed. A client with this position has read everything before it.
type FeedPosition struct {
	Incarnation Incarnation
	History     History
	At          []byte // position in a format that depends on the store
}

// FeedRequest selects a page of a feed.
type FeedRequest struct {
	// From is the position at which the page starts. If From is nil and Oldest is not set, the page is empty and its
	// position is the end of the feed.
	From *FeedPosition
	// Oldest makes the page start at the oldest change in the feed. It is used only if From is nil.
	Oldest bool
	// Within limits the page to changes of entities in a key range.
	Within key.Range
	// Changes and Bytes limit the page: it ends after the commit that reaches this number of changes, or of bytes of
	// keys and properties. It may end earlier, even inside a commit larger than [LargestPart].
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
	// Retention is the time for which the feed retains a change, or 0 if this time is unknown.
	Retention edm.Ticks
}

// LargestPart is the number of bytes of keys and properties after which a commit is divided between pages. Only commits
// with merges can be that large. Stores with little memory use a lower number.
const LargestPart = 4 << 20

// FeedCommit is one commit in a feed, or a part of a commit; see [LargestPart].
type FeedCommit struct {
	Ticks   edm.Ticks
	At      []byte // position after the commit, or after the part of the commit
	Changes []FeedChange
	// After returns the position after the change with the given Index. It must not be called for the last change of
	// the commit, after which the position is At. A caller needs these positions to divide a commit whose encoded form
	// is too large.
	After func(index int) []byte
	// All is the number of changes within the requested key range in the whole commit, including its parts on other
	// pages.
	All int
	// Dropped is set if the table was dropped. The commit is then the last one in the feed.
	Dropped bool
}

// FeedChange is the change of one entity by a commit.
type FeedChange struct {
	Kind  Kind // kind of the change: Put (for merges too), Delete or Expire
	Index int  // number of changes in the whole commit up to and including this change
	Key   []byte
	// Row is the entity after a Put. It is nil if the entity has been written or removed again; a later change in the
	// feed then has the newer state.
	Row *Row
	// ExpiredAt is the instant at which the entity expired under the rule of its table. ExpiredAt is 0 unless the
	// change is an Expire, or the entity has expired but is still stored.
	ExpiredAt edm.Ticks
}

// Size returns the length of the key and the entity's properties in bytes.
func (c *FeedChange) Size() int {
	if c.Row == nil {
		return len(c.Key)
	}
	return len(c.Key) + len(c.Row.Properties)
}

// Changes returns a page of a table's feed. If r.Bytes is 0, the page has the byte limit of a page of a query.
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

// AwaitChanges waits until the feed may have changes after a position, or until ctx is done.
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

// TrimFeeds removes the changes that are older than their feed's Keep, or that will be older after the given duration.
// A positive duration frees space in a full store.
func (s *Service) TrimFeeds(ctx context.Context, ahead edm.Ticks) error {
	f, ok := As[Feeding](s.store)
	if !ok {
		return nil
	}
	return f.TrimFeeds(ctx, s.now()+ahead)
}
