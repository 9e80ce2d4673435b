package pebblestore

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/adapters/store/pebblestore/internal/layout"
	"edgetable/adapters/store/pebblestore/internal/recordcopy"
	"edgetable/core/table"
)

// restoreRecords reports the records that are only in the second copy. If damage is accepted, it writes them to the
// database again.
func (s *Store) restoreRecords(readOnly bool, logf func(string, ...any)) error {
	if own := s.identity.Load(); own != nil && s.copied.Store != "" && s.copied.Store != *own {
		logf("edgetable: %s belongs to another store: it is not used, and is rewritten", recordcopy.Name)
		s.copied.Text = nil
		return nil
	}
	for _, k := range slices.Sorted(maps.Keys(s.copied.Records)) {
		v := s.copied.Records[k]
		now, err := layout.Get(s.db, layout.RecordKey(k))
		if err != nil {
			return err
		}
		if now != nil && recordcopy.Written(now) >= recordcopy.Written(v) {
			continue
		}
		r, err := table.ParseRecord(k, v)
		if err != nil {
			return err
		}
		lost := fmt.Sprintf("the record %q of %s is lost in the database (%s has a copy)", k, r.Revision.Written(), recordcopy.Name)
		if err := s.logs.Lose(lost); err != nil {
			return err
		}
		if readOnly {
			continue
		}
		if err := s.db.Set(layout.RecordKey(k), v, pebble.Sync); err != nil {
			return err
		}
	}
	return nil
}

// copyRecords returns the content of the file TABLES, which is the second copy of all records.
func (s *Store) copyRecords() (want []byte, err error) {
	want = append(recordcopy.Head(layout.Version), recordcopy.Store(*s.identity.Load())...)
	err = layout.ForEach(s.db, []byte{layout.Records}, func(k, v []byte) error {
		want = append(want, recordcopy.Record(string(k[1:]), v)...)
		return nil
	})
	return want, err
}

// rewriteCopies replaces the second copy of the records. It fails if there is no disk space.
func (s *Store) rewriteCopies() error {
	want, err := s.copyRecords()
	if err != nil {
		return err
	}
	return s.copies.Rewrite(want)
}

// copyRecord adds a durable record to the second copy of the records.
func (s *Store) copyRecord(ctx context.Context, k string, v []byte) {
	if !s.copies.Add(recordcopy.Record(k, v)) {
		return
	}
	s.catalog.Lock() // A drop first adds its line to the file, and then commits. A rewrite of the file between these two steps would lose the line.
	defer s.catalog.Unlock()
	if s.journal.wait(ctx, s.catalog.last.Load()) != nil {
		return
	}
	if err := s.rewriteCopies(); err != nil {
		s.copies.GiveUp(err)
	}
}
