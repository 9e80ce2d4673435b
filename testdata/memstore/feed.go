package memstore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"maps"
	"slices"
	"sync/atomic"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// feed is the change feed of one incarnation (life) of a table. The elements of the slice lines never change; new ones
// are added, and old ones are removed.
type feed struct {
	lines   []line
	floor   edm.Ticks // Timestamp of the last change that was removed from the feed; before the first removal, the time when the feed began
	keep    edm.Ticks
	dropped *table.RecordKey
}

type line struct {
	ticks edm.Ticks
	bytes []byte
}

func (f *feed) add(ticks edm.Ticks, b []byte) { f.lines = append(f.lines, line{ticks, b}) }

// histories is the number of histories that stores of this process have begun. A history identifies the
// sequence of all changes of a store.
var histories atomic.Uint64

func newHistory() (h table.History) {
	binary.BigEndian.PutUint64(h[:], histories.Add(1))
	return h
}

// changes must be called for each change. It records the time, and wakes the clients that wait for changes. The caller
// holds mu.
func (s *Store) changes(now edm.Ticks) {
	s.last = max(s.last, now)
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// declareFeed begins or ends the change feed of one incarnation (life) of a table. The options in t decide
// whether the table has a feed. The caller holds mu.
func (s *Store) declareFeed(i table.Incarnation, t *table.Traits) error {
	f := s.feeds[i]
	if t.Feeds() == (f != nil) {
		if f != nil {
			f.keep = t.Feed.Keep
		}
		return nil
	}
	now, err := s.clock.Next()
	if err != nil {
		return err
	}
	if f != nil {
		delete(s.feeds, i)
	} else {
		s.feeds[i] = &feed{floor: now, keep: t.Feed.Keep}
	}
	s.changes(now)
	return nil
}

// dropFeed ends the feed of a table. The caller holds mu.
func (s *Store) dropFeed(i table.Incarnation, t table.RecordKey) error {
	f := s.feeds[i]
	if f == nil {
		return nil
	}
	now, err := s.clock.Next()
	if err != nil {
		return err
	}
	f.add(now, table.AppendFeedDrop(nil, t))
	f.dropped = &t
	s.changes(now)
	return nil
}

// position returns a position: after the commit at a Timestamp, or after some changes of that commit.
func position(at edm.Ticks, part int) []byte {
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint64(nil, uint64(at)), uint16(part))
}

// find returns the feed that a request names, and the position from which to read. The caller holds mu.
func (s *Store) find(t table.RecordKey, r *table.FeedRequest) (f *feed, i table.Incarnation, from edm.Ticks, part int, err error) {
	record, err := s.live(t)
	if r.From != nil && (err != nil || r.From.Incarnation != record.Incarnation) {
		if f := s.feeds[r.From.Incarnation]; f == nil || f.dropped == nil || *f.dropped != t {
			return nil, i, 0, 0, table.ErrFeedEnded
		}
		i = r.From.Incarnation
	} else if i = record.Incarnation; err != nil {
		return nil, i, 0, 0, err
	}
	if f = s.feeds[i]; f == nil {
		return nil, i, 0, 0, table.ErrNoFeed
	}
	switch {
	case r.From != nil && (r.From.History != s.history || len(r.From.At) != 10):
		return nil, i, 0, 0, table.ErrHistory
	case r.From != nil:
		from, part = edm.Ticks(binary.BigEndian.Uint64(r.From.At)), int(binary.BigEndian.Uint16(r.From.At[8:]))
		if part > 0 {
			from-- // the page begins with this commit again
		}
		if from < f.floor {
			return nil, i, 0, 0, table.ErrFeedExpired
		}
	case r.Oldest:
		from = f.floor
	default:
		from = s.last
	}
	if n := len(f.lines); f.dropped != nil && n > 0 && from >= f.lines[n-1].ticks {
		return nil, i, 0, 0, table.ErrFeedEnded
	}
	return f, i, from, part, nil
}

// Changes implements [table.Feeding].
func (s *Store) Changes(ctx context.Context, t table.RecordKey, r table.FeedRequest) (table.FeedPage, error) {
	if err := ctx.Err(); err != nil {
		return table.FeedPage{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	f, i, from, part, err := s.find(t, &r)
	if err != nil {
		return table.FeedPage{}, err
	}
	b := table.NewFeedBuilder(&r)
	b.Page.Next = table.FeedPosition{Incarnation: i, History: s.history, At: position(max(from, s.last), 0)}
	b.Part, b.PartOf = part, from+1
	if record, err := s.live(t); err == nil && record.Incarnation == i {
		b.Traits, b.Now = record.Traits, s.clock.Instant()
	}
	b.Read = func(k []byte) (*table.Row, error) {
		row, ok := s.entities[i].get(string(k))
		if !ok {
			return nil, nil
		}
		row = clone(row)
		return &row, nil
	}
	begin, found := slices.BinarySearchFunc(f.lines, from, func(l line, at edm.Ticks) int { return cmp.Compare(l.ticks, at) })
	if found {
		begin++
	}
	for _, l := range f.lines[begin:] {
		if full, err := b.Add(l.ticks, func(part int) []byte { return position(l.ticks, part) }, bytes.Clone(l.bytes)); err != nil {
			return table.FeedPage{}, err
		} else if full {
			return b.Page, nil
		}
	}
	b.Page.Next.At = position(max(from, s.last), 0)
	return b.Page, nil
}

// AwaitChanges implements [table.Feeding].
func (s *Store) AwaitChanges(ctx context.Context, _ table.RecordKey, at table.FeedPosition) error {
	s.mu.Lock()
	if len(at.At) != 10 || edm.Ticks(binary.BigEndian.Uint64(at.At)) < s.last {
		s.mu.Unlock()
		return ctx.Err()
	}
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	changed := s.changed
	s.mu.Unlock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TrimFeeds implements [table.Feeding].
func (s *Store) TrimFeeds(ctx context.Context, now edm.Ticks) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.feeds {
		for len(f.lines) > 0 && f.lines[0].ticks <= now-f.keep {
			f.floor, f.lines = f.lines[0].ticks, f.lines[1:]
		}
		if f.dropped != nil && len(f.lines) == 0 {
			delete(s.feeds, i)
		}
	}
	return nil
}

// Backup returns a function that makes a store with the current state, like a restored backup. The new store
// has a different history.
func (s *Store) Backup() (restore func(now func() edm.Ticks) *Store) {
	s.mu.Lock()
	defer s.mu.Unlock()
	records, entities, last, revisions := s.records, maps.Clone(s.entities), s.last, s.revisions
	feeds := map[table.Incarnation]*feed{}
	for i, f := range s.feeds {
		feeds[i] = new(*f)
		feeds[i].lines = slices.Clone(f.lines)
	}
	return func(now func() edm.Ticks) *Store {
		restored := New(now)
		restored.clock.Raise(last)
		restored.records, restored.entities, restored.feeds = records, entities, feeds
		restored.last, restored.revisions = last, revisions
		return restored
	}
}
