package pebblestore

import (
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/adapters/store/pebblestore/internal/layout"
	"edgetable/adapters/store/pebblestore/internal/recordcopy"
	"edgetable/core/table"
)

// ReadRecord implements table.Store.
func (s *Store) ReadRecord(ctx context.Context, key table.RecordKey, c table.Consistency) (table.Record, error) {
	if err := ctx.Err(); err != nil {
		return table.Record{}, err
	}
	r, err := getRecord(s.db, key)
	n := s.catalog.last.Load() // load the number only after the record was read, because the record may come from the last catalog change
	if w := s.journal.wait(ctx, n); isShort(w) {
		err = s.withDurableView(func(v view) (err error) {
			r, err = getRecord(v.from, key)
			return err
		})
	} else if w != nil {
		return table.Record{}, w
	}
	return r, err
}

// ListRecords implements table.Store.
func (s *Store) ListRecords(ctx context.Context, account, from string, limit int, c table.Consistency) ([]table.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	prefix := table.TablesOf(account)
	o := &pebble.IterOptions{LowerBound: layout.RecordKey(prefix + from), UpperBound: layout.End(layout.RecordKey(prefix))}
	it, err := s.db.NewIter(o)
	if err != nil {
		return nil, err
	}
	n := s.catalog.last.Load() // load the number only after NewIter, because the iterator may show the last catalog change
	list, err := readRecords(it, limit)
	if err != nil {
		return nil, err
	}
	switch w := s.journal.wait(ctx, n); {
	case w == nil:
		return list, nil
	case !isShort(w):
		return nil, w
	}
	err = s.withDurableView(func(v view) (err error) {
		it, err = v.from.NewIter(o)
		return err
	})
	if err != nil {
		return nil, err
	}
	return readRecords(it, limit)
}

func readRecords(it *pebble.Iterator, limit int) (list []table.Record, err error) {
	for ok := it.First(); ok && len(list) < limit; ok = it.Next() {
		r, rerr := readRecord(it)
		if rerr != nil {
			err = rerr
			break
		}
		list = append(list, r)
	}
	return list, errors.Join(err, it.Close())
}

func readRecord(it *pebble.Iterator) (table.Record, error) {
	v, err := it.ValueAndErr()
	if err != nil {
		return table.Record{}, err
	}
	return table.ParseRecord(string(it.Key()[1:]), v)
}

// WriteRecord implements table.Store.
func (s *Store) WriteRecord(ctx context.Context, r table.Record) (table.Revision, error) {
	e, err := s.changeRecord(ctx, r.Key, r.Revision, &r)
	if err != nil {
		return "", err
	}
	return table.RevisionOf(e.number), nil
}

// Drop implements table.Store. One batch removes the record and all entities of the table. No other commit is applied
// concurrently.
func (s *Store) Drop(ctx context.Context, key table.RecordKey, r table.Revision) error {
	_, err := s.changeRecord(ctx, key, r, nil)
	return err
}

// changeRecord stores record, or drops the table if record is nil. It returns table.ErrRevision unless the
// stored record has the revision r.
func (s *Store) changeRecord(ctx context.Context, key table.RecordKey, r table.Revision, record *table.Record) (*entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.admitDelete(record == nil); err != nil {
		return nil, err
	}
	if record != nil && record.Traits.Feeds() {
		if _, err := s.ownHistory(ctx); err != nil {
			return nil, err
		}
	}
	s.catalog.Lock()
	old, err := getRecord(s.db, key)
	if errors.Is(err, table.ErrNoRecord) && record != nil {
		err = nil // the record does not exist, so its revision is ""
	} else if errors.Is(err, table.ErrNoRecord) {
		err = table.ErrRevision
	}
	if err == nil && old.Revision != r {
		err = table.ErrRevision
	}
	if err != nil {
		n := s.catalog.last.Load()
		s.catalog.Unlock()
		return nil, s.awaitAndReturn(ctx, n, err)
	}
	if record != nil && r != "" {
		record.Incarnation = old.Incarnation
	}
	if record == nil {
		s.copies.Add(recordcopy.Drop(old.Incarnation))
	}
	b, e, err := s.applyRecord(key, old.Incarnation, record)
	s.catalog.Unlock()
	if err != nil {
		return nil, err
	}
	err = s.awaitDurable(b, e)
	s.releaseSnapshot(e.undo)
	if err != nil {
		return e, err
	}
	if record == nil {
		prefix := layout.AppendPrefix(nil, old.Incarnation)
		s.reclaim(prefix, layout.End(prefix))
		return e, nil
	}
	s.copyRecord(ctx, key.String(), table.AppendRecord(nil, record, e.number))
	return e, nil
}

// Full reports whether the store refuses writes for lack of disk space or memory.
func (s *Store) Full() bool { return s.disk.Full() || s.room.IsFull() }

// reclaim compacts removed keys if the disk is full, to free their space. Pebble would first compact other files, which
// needs more space than is free.
func (s *Store) reclaim(from, to []byte) {
	if s.Full() {
		s.calls.Go(func() { _ = s.db.Compact(s.ending, from, to, false) }) // an error only means that no space is freed yet
	}
}

// applyRecord applies a change of a table record. s.catalog must be held. It locks all stripes, so that all commits
// with lower numbers are earlier in the log.
func (s *Store) applyRecord(key table.RecordKey, old table.Incarnation, next *table.Record) (*pebble.Batch, *entry, error) {
	defer s.exitOnPanic()
	s.lockStripes()
	defer s.unlockStripes()
	var u undo
	if !s.memory {
		u.snapshot = s.db.NewSnapshot()
	}
	e, err := s.journal.register(u)
	if err != nil {
		s.releaseSnapshot(u)
		return nil, nil, err
	}
	b := s.db.NewBatch()
	i := old
	if next != nil {
		i = next.Incarnation
		err = b.Set(layout.RecordKey(key.String()), table.AppendRecord(nil, next, e.number), nil)
	} else {
		prefix := layout.AppendPrefix(nil, old)
		err = errors.Join(b.Delete(layout.RecordKey(key.String()), nil), b.DeleteRange(prefix, layout.End(prefix), nil))
	}
	err = errors.Join(err, s.declareFeed(b, i, key, next, e.number))
	if err != nil {
		s.journal.cancel(e)
		s.releaseSnapshot(u)
		return nil, nil, errors.Join(err, b.Close())
	}
	s.catalog.last.Store(int64(e.number))
	// A dropped table must be dead before the batch is applied, and a new table live only afterwards. Otherwise a
	// reader could see an empty table that does not exist.
	if next == nil {
		s.tables.setDead(key)
	}
	if err := s.apply(b, e); err != nil {
		s.die(err) // the drop cannot be undone, because the table is already marked as dead
		s.releaseSnapshot(u)
		return nil, nil, table.ErrUnknown
	}
	if next != nil {
		s.tables.setLive(next)
	}
	return b, e, nil
}
