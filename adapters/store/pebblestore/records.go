package pebblestore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/core/table"
)

// restoreRecords compares the records of the database with their second copy. What the
// database has lost is a loss, and written again if that is accepted.
func (s *Store) restoreRecords(readOnly bool) error {
	for _, k := range slices.Sorted(maps.Keys(s.logs.copied.records)) {
		v := s.logs.copied.records[k]
		now, err := s.storedRecord(k)
		if err != nil {
			return err
		}
		if now != nil && written(now) >= written(v) {
			continue
		}
		r, err := table.ParseRecord(k, v)
		if err != nil {
			return err
		}
		lost := fmt.Sprintf("the record %q of %s is lost in the database (%s has a copy)", k, r.Revision.Written(), copyFile)
		if err := s.logs.lose(lost); err != nil {
			return err
		}
		if readOnly {
			continue
		}
		if err := s.db.Set(recordKey(k), v, pebble.Sync); err != nil {
			return err
		}
	}
	return nil
}

// storedRecord returns the stored form of a record, or nil.
func (s *Store) storedRecord(text string) ([]byte, error) {
	v, closer, err := s.db.Get(recordKey(text))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	own := append([]byte{}, v...)
	return own, closer.Close()
}

// writeCopies begins the second copy of the records anew, if its content is not as old.
func (s *Store) writeCopies(to vfs.FS, old []byte) error {
	want := copyLine("edgetable %d", formatVersion)
	prefix := []byte{spaceRecords}
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: prefixEnd(prefix)})
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return errors.Join(err, it.Close())
		}
		want = append(want, recordLine(string(it.Key()[1:]), v)...)
	}
	if err := it.Close(); err != nil {
		return err
	}
	return s.copies.begin(to, want, old)
}

// copyRecord adds a record that is durable to the second copy.
func (s *Store) copyRecord(ctx context.Context, k string, v []byte) {
	if !s.copies.add(recordLine(k, v)) {
		return
	}
	s.catalog.Lock() // no drop is between its line and its commit
	defer s.catalog.Unlock()
	if s.journal.wait(ctx, s.catalog.last.Load()) == nil {
		if err := s.writeCopies(s.copies.fs, nil); err != nil {
			// An old copy would contradict the catalog after the next drop.
			err = errors.Join(err, s.copies.fs.Remove(s.copies.path()))
			s.copies.logf("edgetable: the second copy of the tables' records cannot be written: %v", err)
		}
	}
}
