package pebblestore

import (
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/core/key"
	"edgetable/core/table"
)

// Scan implements table.Store. The page is a snapshot; its cost depends on the
// examined rows, not on the size of the table.
func (s *Store) Scan(ctx context.Context, tbl table.RecordKey, r table.ScanRequest) (table.Page, error) {
	if in := s.standIn.get(); in != nil {
		defer s.standIn.release()
		return in.Scan(ctx, tbl, r)
	}
	if err := ctx.Err(); err != nil {
		return table.Page{}, err
	}
	for {
		l := s.tables.find(tbl)
		if l == nil {
			return table.Page{}, s.answer(ctx, s.catalog.last.Load(), table.ErrNoTable)
		}
		it, err := s.db.NewIter(l.bounds(r.Ranges[0]))
		if err != nil {
			return table.Page{}, err
		}
		if l.dead.Load() {
			if err := it.Close(); err != nil {
				return table.Page{}, err
			}
			continue
		}
		// All commits that the iterator can show were registered before it was
		// made. Wait for them last: by then their fsync has usually finished.
		n := s.journal.last.Load()
		m := memories.Get().(*memory)
		b := table.NewPageBuilder(&r)
		b.Pause = r.Pause
		for i := range r.Ranges {
			if i > 0 {
				o := l.bounds(r.Ranges[i])
				it.SetBounds(o.LowerBound, o.UpperBound)
			}
			if err = collect(ctx, it, &b, m); err != nil || b.Page.Next != nil {
				break
			}
		}
		if err := errors.Join(err, it.Close()); err != nil {
			m.recycle()
			return table.Page{}, err
		}
		if err := s.journal.wait(ctx, n); err != nil {
			m.recycle()
			return table.Page{}, err
		}
		b.Page.Rows, b.Page.Recycle = m.rows, m.recycle
		return b.Page, nil
	}
}

// bounds returns the bounds of the full keys of a range.
func (l *life) bounds(r key.Range) *pebble.IterOptions {
	o := &pebble.IterOptions{LowerBound: l.appendKey(nil, r.Start)}
	if r.End != nil {
		o.UpperBound = l.appendKey(nil, r.End)
	} else {
		o.UpperBound = prefixEnd(appendPrefix(nil, l.incarnation))
	}
	return o
}

// collect reads the iterator's range. It evaluates rows in the memory of the
// iterator and copies those that belong to the page.
func collect(ctx context.Context, it *pebble.Iterator, b *table.PageBuilder, m *memory) error {
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		row, err := table.ParseRow(it.Key()[prefixLength:], v)
		if err != nil {
			return err
		}
		switch verdict, err := b.Examine(ctx, &row); {
		case err != nil:
			return err
		case verdict == table.End:
			return nil
		case verdict == table.Take:
			row.Key, row.Properties = m.copy(row.Key), m.copy(row.Properties)
			m.rows = append(m.rows, row)
		}
	}
	return it.Error()
}
