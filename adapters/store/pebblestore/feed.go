package pebblestore

import (
	"bytes"
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/adapters/store/pebblestore/internal/feedlog"
	"edgetable/adapters/store/pebblestore/internal/layout"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// The change feed of a table has a record, called a line, for each commit. The batch of the commit contains the line. A
// position in a feed is a commit number.
//
// A page ends at a number up to which all commits are durable, so a reader misses no line.

var _ table.Feeding = (*Store)(nil)

// Changes implements [table.Feeding]. A page omits content that a newer write has overwritten, so the reply waits until
// that write is durable. Otherwise, after a power loss, the client might have neither content.
func (s *Store) Changes(ctx context.Context, t table.RecordKey, r table.FeedRequest) (table.FeedPage, error) {
	if err := ctx.Err(); err != nil {
		return table.FeedPage{}, err
	}
	history, err := s.ownHistory(ctx)
	if err != nil {
		return table.FeedPage{}, err
	}
	// The number must be read before the snapshot is taken, which then has all lines up to this number.
	durable := s.Durable()
	if p, follows, err := s.Position(); err != nil {
		return table.FeedPage{}, err
	} else if follows { // after a start, Durable includes reserved numbers, and commits with these numbers may still be replayed
		durable = min(durable, p.Number)
	}
	snapshot := s.db.NewSnapshot()
	last := s.journal.last.Load()
	page, err := s.readFeed(t, &r, snapshot, history, durable, edm.Ticks(last))
	err = errors.Join(err, snapshot.Close())
	if err := s.awaitAndReturn(ctx, last, err); err != nil {
		return table.FeedPage{}, err
	}
	return page, nil
}

// readFeed reads a page of a change feed from a snapshot. The number of each commit in the snapshot is at most the
// parameter last.
func (s *Store) readFeed(t table.RecordKey, r *table.FeedRequest, db pebble.Reader, history feedlog.History, durable, last edm.Ticks) (table.FeedPage, error) {
	b := table.NewFeedBuilder(r)
	if err := s.chooseFeed(&b, t, r, db); err != nil {
		return b.Page, err
	}
	incarnation := b.Page.Next.Incarnation
	end, line, err := feedlog.Last(db, incarnation, 1<<62)
	if err != nil {
		return b.Page, err
	}
	h, exists, err := feedlog.Find(db, incarnation)
	of, dropped := table.FeedDropOf(line)
	switch {
	case err != nil:
		return b.Page, err
	case b.Now == 0 && (!exists || !dropped || of != t):
		return b.Page, table.ErrFeedEnded
	case !exists || b.Now != 0 && !b.Traits.Feeds():
		return b.Page, table.ErrNoFeed
	}
	from, err := s.beginOf(r, h, history, durable)
	if err != nil {
		return b.Page, err
	}
	last = max(last, from.Seen) // an earlier page may have come from a store with later commits than this secondary
	begin := from.Before()
	b.Part, b.PartOf = from.Part, from.Number
	if dropped && begin >= end {
		return b.Page, table.ErrFeedEnded
	}
	b.Page.Next.History = history.ID
	full, err := readLines(&b, db, begin, max(begin, durable), last)
	switch {
	case full:
	case b.Part > 0: // this store applies the log of another store, and does not have the commit yet
		b.Page.Next.At = from.Bytes()
	default:
		b.Page.Next.At = feedlog.Position{Number: max(begin, durable), Seen: last}.Bytes()
	}
	return b.Page, err
}

// chooseFeed selects the feed of the incarnation in the client's position, or of the current incarnation. It sets
// b.Traits and b.Now only for the current one.
func (s *Store) chooseFeed(b *table.FeedBuilder, t table.RecordKey, r *table.FeedRequest, db pebble.Reader) error {
	live, err := getRecord(db, t)
	switch {
	case err != nil && !errors.Is(err, table.ErrNoRecord):
		return err
	case r.From == nil && err != nil:
		return table.ErrNoTable
	case err == nil && (r.From == nil || r.From.Incarnation == live.Incarnation):
		b.Page.Next.Incarnation, b.Traits, b.Now = live.Incarnation, live.Traits, s.journal.clock.Instant()
	default:
		b.Page.Next.Incarnation = r.From.Incarnation
	}
	return nil
}

// readLines adds the lines with numbers in (above, end] to the page, and the entities of these lines. The database db
// must contain no commit with a number above maxNumber.
func readLines(b *table.FeedBuilder, db pebble.Reader, above, end, maxNumber edm.Ticks) (full bool, err error) {
	incarnation := b.Page.Next.Incarnation
	entities, err := db.NewIter(&pebble.IterOptions{LowerBound: layout.AppendPrefix(nil, incarnation), UpperBound: layout.End(layout.AppendPrefix(nil, incarnation))})
	if err != nil {
		return false, err
	}
	b.Read = (&joiner{it: entities, key: layout.AppendPrefix(nil, incarnation)}).read
	it, err := feedlog.Lines(db, incarnation, above, end)
	if err != nil {
		return false, errors.Join(err, entities.Close())
	}
	for ok := it.First(); ok && !full; ok = it.Next() {
		var v []byte
		if v, err = it.ValueAndErr(); err != nil {
			break
		}
		_, n, _ := feedlog.ParseKey(it.Key())
		if full, err = b.Add(n, feedlog.Position{Number: n, Seen: maxNumber}.In, v); err != nil {
			break
		}
	}
	return full, errors.Join(err, it.Error(), it.Close(), entities.Close())
}

// joiner reads the current entities for the lines of a change feed. It tries the next key before it seeks, because the
// entities of a batch are often adjacent.
type joiner struct {
	it  *pebble.Iterator
	key []byte // full key of the current entity; all keys have the prefix of the table's incarnation
}

func (j *joiner) read(k []byte) (*table.Row, error) {
	j.key = append(j.key[:layout.PrefixLength], k...)
	found := j.it.Valid() && j.it.Next() && bytes.Equal(j.it.Key(), j.key)
	if !found {
		found = j.it.SeekGE(j.key) && bytes.Equal(j.it.Key(), j.key)
	}
	if !found {
		return nil, j.it.Error()
	}
	v, err := j.it.ValueAndErr()
	if err != nil {
		return nil, err
	}
	own := make([]byte, len(k)+len(v))
	copy(own, k)
	copy(own[len(k):], v)
	row, err := table.ParseRow(own[:len(k):len(k)], own[len(k):])
	return &row, err
}

func (s *Store) beginOf(r *table.FeedRequest, h feedlog.Head, history feedlog.History, durable edm.Ticks) (feedlog.Position, error) {
	switch {
	case r.From == nil && r.Oldest:
		return feedlog.Position{Number: h.Floor}, nil
	case r.From == nil:
		return feedlog.Position{Number: max(durable, h.Floor)}, nil
	}
	p, ok := feedlog.ParsePosition(r.From.At)
	switch {
	case !ok || !history.Has(r.From.History, p.Latest()):
		return p, table.ErrHistory
	case p.Before() < h.Floor:
		return p, table.ErrFeedExpired
	case p.Latest() > edm.Ticks(s.journal.last.Load()):
		if _, follows, err := s.Position(); err != nil || !follows {
			return p, errors.Join(err, table.ErrHistory) // the client has read later commits than the store has, so the disk was restored to an earlier state
		}
	}
	return p, nil
}

// AwaitChanges implements [table.Feeding].
func (s *Store) AwaitChanges(ctx context.Context, t table.RecordKey, at table.FeedPosition) error {
	l := s.tables.find(t)
	if p, ok := feedlog.ParsePosition(at.At); ok && l != nil && l.incarnation == at.Incarnation {
		bell, last := l.news.Listen()
		if last <= int64(p.Before()) && !l.dropped.Load() && l.traits.Load().Feeds() {
			select {
			case <-bell:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return s.awaitAndReturn(ctx, s.journal.last.Load(), nil) // this waits for all commits so far, including commits to other tables
}

// TrimFeeds implements [table.Feeding]. A store that replays another store's log does nothing, because the log also
// removes the lines.
func (s *Store) TrimFeeds(ctx context.Context, now edm.Ticks) error {
	if _, follows, err := s.Position(); err != nil || follows {
		return err
	}
	list, err := feedlog.Feeds(s.db)
	for _, i := range list {
		if err == nil {
			err = s.trimFeed(ctx, i, now)
		}
	}
	return err
}

// FeedsFillIt reports whether feeds should be trimmed early. This is the case if the store refuses writes, or if the
// disk is nearly full and feeds use more space than is free.
func (s *Store) FeedsFillIt() bool {
	free, soon := s.disk.NearlyFull()
	return s.Full() || soon && feedlog.Size(s.db) > free
}

// trimFeed trims one change feed. It locks the catalog, so that no concurrent call changes the options of the feed.
func (s *Store) trimFeed(ctx context.Context, i table.Incarnation, now edm.Ticks) error {
	if err := s.admitDelete(true); err != nil {
		return err
	}
	s.catalog.Lock()
	defer s.catalog.Unlock()
	h, exists, err := feedlog.Find(s.db, i)
	if err != nil || !exists {
		return err
	}
	n, line, err := feedlog.Last(s.db, i, min(now-h.Keep, s.Durable()))
	if err != nil || n == 0 {
		return err
	}
	b := s.db.NewBatch()
	if err := feedlog.Trim(b, i, h, n, line); err != nil {
		return errors.Join(err, b.Close())
	}
	_, err = s.commitInternal(b)
	s.reclaim(feedlog.Bounds(i))
	return errors.Join(ctx.Err(), err)
}
