package postgres

import (
	"context"
	"strings"

	"edgetable/core/edm"
	"edgetable/core/table"
)

var _ table.Feeding = (*Store)(nil)

// Changes implements [table.Feeding].
func (s *Store) Changes(ctx context.Context, t table.RecordKey, r table.FeedRequest) (table.FeedPage, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return table.FeedPage{}, err
	}
	defer cancel()
	return s.feeds.Changes(ctx, table.RecordKey{Account: strings.Clone(t.Account), Table: strings.Clone(t.Table)}, &r)
}

// AwaitChanges implements [table.Feeding].
func (s *Store) AwaitChanges(ctx context.Context, _ table.RecordKey, at table.FeedPosition) error {
	return s.feeds.Await(ctx, at)
}

// TrimFeeds implements [table.Feeding].
func (s *Store) TrimFeeds(ctx context.Context, now edm.Ticks) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.checkClock(ctx); err != nil { // a clock that is ahead would remove changes too early
		return err
	}
	return s.feeds.Trim(ctx, now)
}
