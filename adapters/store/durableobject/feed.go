package durableobject

import (
	"context"
	"errors"
	"time"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/adapters/store/durableobject/internal/position"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// The feed of a table has a line for each commit. The objects of the table's ranges store the lines: see docs/adr/0046.
// A page merges the lines of some objects.

var _ table.Feeding = (*Store)(nil)

// Changes implements [table.Feeding].
func (s *Store) Changes(ctx context.Context, t table.RecordKey, r table.FeedRequest) (table.FeedPage, error) {
	if badKey(t.String()) {
		return table.FeedPage{}, table.ErrNoTable
	}
	if r.From == nil {
		return s.beginFeed(ctx, t, &r)
	}
	for tries := 1; ; tries++ {
		p, ok := position.Read(r.From.At)
		switch {
		case r.From.History != history || !ok || p.Layout.Buckets > MaxBuckets || !validLocation(p.Layout.Location):
			return table.FeedPage{}, table.ErrHistory
		case p.Ended:
			return table.FeedPage{}, table.ErrFeedEnded
		}
		few := len(p.Ranges)*tries < s.window // whether enough of the permitted calls remain for another attempt
		page, err := s.readFeed(ctx, t, r.From.Incarnation, &p, &r)
		if !errors.Is(err, table.ErrBusy) || !few || tries >= s.o.Attempts || !s.pauseForRetry(ctx, tries) {
			return page, err
		}
	}
}

// beginFeed returns the first page of a feed. Unless the request asks for the oldest line, the page is empty, and its
// position is the end of the feed.
func (s *Store) beginFeed(ctx context.Context, t table.RecordKey, r *table.FeedRequest) (page table.FeedPage, err error) {
	for tries := 1; ; tries++ {
		m, same, err := s.feedMap(ctx, t, !r.Oldest)
		switch {
		case err == nil && same:
			p := position.Position{Layout: m.Layout, Done: m.Done}
			for _, one := range m.Ranges {
				p.Set(one.Object, one.At)
			}
			if r.Oldest {
				return s.readFeed(ctx, t, m.Life, &p, r)
			}
			page.Next = table.FeedPosition{Incarnation: m.Life, History: history, At: p.Append(nil)}
			return page, nil
		case err != nil && !errors.Is(err, table.ErrBusy):
			return page, err
		case tries >= s.o.Attempts || !s.pauseForRetry(ctx, tries):
			return page, table.ErrBusy
		}
	}
}

// feedMap asks the catalog which objects have the feed. If ends is true, it also asks where the feed ends in each
// object. The result unchanged is false if the set of objects changed meanwhile, so that a reader could miss lines.
func (s *Store) feedMap(ctx context.Context, t table.RecordKey, ends bool) (all message.FeedMap, unchanged bool, err error) {
	for {
		r, err := s.send(ctx, s.catalog(t.Account), message.Feeds(nil, t.String(), len(all.Ranges), ends))
		if errors.Is(err, table.ErrNoRecord) {
			err = table.ErrNoTable
		}
		if err != nil {
			return all, false, err
		}
		m := r.FeedMap()
		if !r.Done() || len(m.Ranges) == 0 {
			return all, false, message.ErrDamaged
		}
		if len(all.Ranges) > 0 && (m.Sum != all.Sum || m.Life != all.Life) {
			return all, false, nil
		}
		m.Ranges, m.Done = append(all.Ranges, m.Ranges...), append(all.Done, m.Done...)
		if all = m; len(all.Ranges) >= all.All {
			return all, true, nil
		}
	}
}

// feedPause is the time that AwaitChanges waits.
const feedPause = time.Second

// AwaitChanges implements [table.Feeding]. Objects do not announce changes, so it returns after a second, and the
// caller reads again.
func (s *Store) AwaitChanges(ctx context.Context, _ table.RecordKey, _ table.FeedPosition) error {
	if err := s.contextErr(ctx); err != nil {
		return err
	}
	if s.pause != nil {
		s.pause.Pause(ctx, feedPause)
	}
	return s.contextErr(ctx)
}

// TrimFeeds implements [table.Feeding]. It does nothing: the alarm of each object removes old lines, and reads omit
// lines that are too old.
func (*Store) TrimFeeds(context.Context, edm.Ticks) error { return nil }
