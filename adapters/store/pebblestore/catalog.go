package pebblestore

import (
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/core/table"
)

// record reads a record, or returns table.ErrNoRecord. The catalog must be
// locked: a record and the live table of its key change together.
func (s *Store) record(key table.RecordKey) (table.Record, error) {
	text := key.String()
	v, closer, err := s.db.Get(recordKey(text))
	if errors.Is(err, pebble.ErrNotFound) {
		return table.Record{}, table.ErrNoRecord
	}
	if err != nil {
		return table.Record{}, err
	}
	defer closer.Close()
	return table.ParseRecord(text, v)
}

// ReadRecord implements table.Store.
func (s *Store) ReadRecord(ctx context.Context, key table.RecordKey, c table.Consistency) (table.Record, error) {
	if r := s.standIn.get(); r != nil {
		defer s.standIn.release()
		return r.ReadRecord(ctx, key, c)
	}
	if err := ctx.Err(); err != nil {
		return table.Record{}, err
	}
	s.catalog.RLock()
	r, err := s.record(key)
	n := s.catalog.last.Load()
	s.catalog.RUnlock()
	if err := s.answer(ctx, n, err); err != nil {
		return table.Record{}, err
	}
	return r, nil
}

// ListRecords implements table.Store.
func (s *Store) ListRecords(ctx context.Context, account, from string, limit int, c table.Consistency) ([]table.Record, error) {
	if r := s.standIn.get(); r != nil {
		defer s.standIn.release()
		return r.ListRecords(ctx, account, from, limit, c)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	prefix := table.TablesOf(account)
	s.catalog.RLock()
	it, err := s.db.NewIter(&pebble.IterOptions{
		LowerBound: recordKey(prefix + from),
		UpperBound: prefixEnd(recordKey(prefix)),
	})
	n := s.catalog.last.Load()
	s.catalog.RUnlock()
	if err != nil {
		return nil, err
	}
	var list []table.Record
	for ok := it.First(); ok && len(list) < limit; ok = it.Next() {
		r, rerr := readRecord(it)
		if rerr != nil {
			err = rerr
			break
		}
		list = append(list, r)
	}
	if err := errors.Join(err, it.Close()); err != nil {
		return nil, err
	}
	if err := s.journal.wait(ctx, n); err != nil {
		return nil, err
	}
	return list, nil
}

// readRecord reads the record at an iterator.
func readRecord(it *pebble.Iterator) (table.Record, error) {
	v, err := it.ValueAndErr()
	if err != nil {
		return table.Record{}, err
	}
	return parseStored(it.Key(), v)
}

// parseStored reads a record from its stored key and value.
func parseStored(k, v []byte) (table.Record, error) {
	return table.ParseRecord(string(k[1:]), v)
}

// WriteRecord implements table.Store.
func (s *Store) WriteRecord(ctx context.Context, r table.Record) (table.Revision, error) {
	e, err := s.changeRecord(ctx, r.Key, r.Revision, &r)
	if err != nil {
		return "", err
	}
	return table.RevisionOf(e.number), nil
}

// Drop implements table.Store. One batch removes the record and the range of
// the entities, while no commit of any table is in progress.
func (s *Store) Drop(ctx context.Context, key table.RecordKey, r table.Revision) error {
	_, err := s.changeRecord(ctx, key, r, nil)
	return err
}

// changeRecord writes a record, or drops the table with it if next is nil.
func (s *Store) changeRecord(ctx context.Context, key table.RecordKey, r table.Revision, next *table.Record) (*entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.space.admitDelete(next == nil); err != nil {
		return nil, err
	}
	s.catalog.Lock()
	old, err := s.record(key)
	if errors.Is(err, table.ErrNoRecord) && next != nil {
		err = nil // old.Revision is empty
	} else if errors.Is(err, table.ErrNoRecord) {
		err = table.ErrRevision
	}
	if err == nil && old.Revision != r {
		err = table.ErrRevision
	}
	if err != nil {
		n := s.catalog.last.Load()
		s.catalog.Unlock()
		return nil, s.answer(ctx, n, err)
	}
	if next != nil && r != "" {
		next.Incarnation = old.Incarnation
	}
	if next == nil {
		s.copies.add(copyLine("drop %x", old.Incarnation[:]))
	}
	b, e, err := s.applyRecord(key, old.Incarnation, next)
	s.catalog.Unlock()
	if err != nil {
		return nil, err
	}
	if err := s.settle(b, e); err != nil {
		return e, err
	}
	if next == nil {
		s.reclaim(old.Incarnation)
		return e, nil
	}
	s.copyRecord(ctx, key.String(), table.AppendRecord(nil, next, e.number))
	return e, nil
}

// applyRecord applies the change with the catalog locked.
func (s *Store) applyRecord(key table.RecordKey, old table.Incarnation, next *table.Record) (*pebble.Batch, *entry, error) {
	defer s.dieOfPanic()
	if next == nil {
		s.lockStripes()
		defer s.unlockStripes()
	}
	e, err := s.journal.register()
	if err != nil {
		return nil, nil, err
	}
	b := s.db.NewBatch()
	if next != nil {
		err = b.Set(recordKey(key.String()), table.AppendRecord(nil, next, e.number), nil)
	} else {
		prefix := appendPrefix(nil, old)
		err = errors.Join(b.Delete(recordKey(key.String()), nil), b.DeleteRange(prefix, prefixEnd(prefix), nil))
	}
	if err != nil {
		s.journal.done(e)
		return nil, nil, errors.Join(err, b.Close())
	}
	s.catalog.last.Store(int64(e.number))
	// An incarnation ends before its batch is applied and begins after it, so that no
	// reader sees an emptied table as live.
	if next == nil {
		s.tables.end(key)
	}
	if err := s.apply(b, e); err != nil {
		s.die(err) // the table is dead already
		return nil, nil, table.ErrUnknown
	}
	if next != nil {
		s.tables.begin(key, next.Incarnation)
	}
	return b, e, nil
}
