package pebblestore

import (
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/core/table"
)

// document reads a document; without one the error is table.ErrNoDocument. The
// catalog must be locked: a document and the live table of its name change
// together.
func (s *Store) document(key string) (table.Document, error) {
	v, closer, err := s.db.Get(documentKey(key))
	if errors.Is(err, pebble.ErrNotFound) {
		return table.Document{}, table.ErrNoDocument
	}
	if err != nil {
		return table.Document{}, err
	}
	defer closer.Close()
	return parseDocument(key, v)
}

// ReadDocument implements table.Store.
func (s *Store) ReadDocument(ctx context.Context, key string) (table.Document, error) {
	if err := ctx.Err(); err != nil {
		return table.Document{}, err
	}
	s.catalog.RLock()
	d, err := s.document(key)
	n := s.catalog.last.Load()
	s.catalog.RUnlock()
	if err := s.answer(ctx, n, err); err != nil {
		return table.Document{}, err
	}
	return d, nil
}

// ListDocuments implements table.Store.
func (s *Store) ListDocuments(ctx context.Context, prefix, from string, limit int) ([]table.Document, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.catalog.RLock()
	it, err := s.db.NewIter(&pebble.IterOptions{
		LowerBound: documentKey(max(prefix, from)),
		UpperBound: prefixEnd(documentKey(prefix)),
	})
	n := s.catalog.last.Load()
	s.catalog.RUnlock()
	if err != nil {
		return nil, err
	}
	var list []table.Document
	for ok := it.First(); ok && len(list) < limit; ok = it.Next() {
		v, verr := it.ValueAndErr()
		if verr != nil {
			err = verr
			break
		}
		d, derr := parseDocument(string(it.Key()[1:]), v)
		if derr != nil {
			err = derr
			break
		}
		list = append(list, d)
	}
	if err := errors.Join(err, it.Close()); err != nil {
		return nil, err
	}
	if err := s.journal.wait(ctx, n); err != nil {
		return nil, err
	}
	return list, nil
}

// WriteDocument implements table.Store. The entities of an incarnation that
// lost its name stay: another document may name it, now or later.
func (s *Store) WriteDocument(ctx context.Context, d table.Document) (table.Revision, error) {
	e, err := s.changeDocument(ctx, d.Key, d.Revision, &d)
	if err != nil {
		return "", err
	}
	return revision(e.number), nil
}

// Drop implements table.Store. The document and the range of the entities go in
// one batch, while no commit of any table is under way.
func (s *Store) Drop(ctx context.Context, key string, r table.Revision) error {
	_, err := s.changeDocument(ctx, key, r, nil)
	return err
}

// changeDocument writes a document, or drops it with its table if next is nil.
func (s *Store) changeDocument(ctx context.Context, key string, r table.Revision, next *table.Document) (*entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.catalog.Lock()
	old, err := s.document(key)
	if errors.Is(err, table.ErrNoDocument) && next != nil {
		err = nil // old.Revision is empty
	} else if errors.Is(err, table.ErrNoDocument) {
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
	b, e, err := s.applyDocument(key, old.Layout, next)
	s.catalog.Unlock()
	if err != nil {
		return nil, err
	}
	return e, s.settle(b, e)
}

// applyDocument applies the change with the catalog locked.
func (s *Store) applyDocument(key string, old table.Layout, next *table.Document) (*pebble.Batch, *entry, error) {
	defer s.dieOfPanic()
	var layout table.Layout
	if next != nil {
		layout = next.Layout
	}
	ends := hasTable(old) && (!hasTable(layout) || layout.Incarnation != old.Incarnation)
	if ends {
		s.lockStripes()
		defer s.unlockStripes()
	}
	e, err := s.journal.register()
	if err != nil {
		return nil, nil, err
	}
	b := s.db.NewBatch()
	if next != nil {
		err = b.Set(documentKey(key), appendDocument(nil, *next, e.number), nil)
	} else {
		err = b.Delete(documentKey(key), nil)
		if hasTable(old) && !s.tables.shared(old.Incarnation) {
			prefix := appendPrefix(nil, old.Incarnation)
			err = errors.Join(err, b.DeleteRange(prefix, prefixEnd(prefix), nil))
		}
	}
	if err != nil {
		s.journal.done(e)
		return nil, nil, errors.Join(err, b.Close())
	}
	s.catalog.last.Store(int64(e.number))
	// A life ends before its batch is applied and begins after, so that nobody
	// reads an emptied table as a live one.
	if ends {
		s.tables.set(key, layout)
	}
	if err := s.apply(b); err != nil {
		s.die(err) // the table is dead already
		return nil, nil, table.ErrUnknown
	}
	s.tables.set(key, layout)
	return b, e, nil
}
