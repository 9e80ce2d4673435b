package pebblestore

import (
	"github.com/cockroachdb/pebble/v2"

	"edgetable/adapters/store/pebblestore/internal/feedlog"
	"edgetable/core/edm"
	"edgetable/core/table"
)

func addLine(b *pebble.Batch, i table.Incarnation, n edm.Ticks, line []byte) error {
	op := b.SetDeferred(feedlog.Length, len(line))
	feedlog.AppendKey(op.Key[:0], i, n)
	copy(op.Value, line)
	return op.Finish()
}

// declareFeed adds writes for a table's change feed to the batch that changes the table's record. These writes begin,
// change, remove or end the feed.
func (s *Store) declareFeed(b *pebble.Batch, i table.Incarnation, key table.RecordKey, next *table.Record, n edm.Ticks) error {
	if l := s.tables.find(key); (l == nil || !l.traits.Load().Feeds()) && (next == nil || !next.Traits.Feeds()) {
		return nil
	}
	h, exists, err := feedlog.Find(s.db, i)
	switch {
	case err != nil:
		return err
	case next == nil:
		return addLine(b, i, n, table.AppendFeedDrop(nil, key))
	case !next.Traits.Feeds():
		return feedlog.Remove(b, i)
	case !exists:
		h.Floor = n
	}
	h.Keep = next.Traits.Feed.Keep
	return b.Set(feedlog.AppendKey(nil, i, 0), h.Append(nil), nil)
}

// beginFeeds creates the change feeds that table records declare but that do not exist. Extract and a salvage do not
// copy feeds.
func (s *Store) beginFeeds(at edm.Ticks) error {
	if _, follows, err := s.Position(); err != nil || follows {
		return err
	}
	return forEachRecord(s.db, func(r *table.Record) error {
		if !r.Traits.Feeds() {
			return nil
		}
		if _, exists, err := feedlog.Find(s.db, r.Incarnation); err != nil || exists {
			return err
		}
		h := feedlog.Head{Floor: at, Keep: r.Traits.Feed.Keep}
		return s.db.Set(feedlog.AppendKey(nil, r.Incarnation, 0), h.Append(nil), pebble.Sync)
	})
}
