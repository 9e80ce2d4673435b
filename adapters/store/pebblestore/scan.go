package pebblestore

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/adapters/store/pebblestore/internal/layout"
	"edgetable/adapters/store/pebblestore/internal/pagerows"
	"edgetable/core/key"
	"edgetable/core/table"
)

// Scan implements table.Store. The page is a snapshot. The time for a page depends on the number of examined entities
// and not on the size of the table.
func (s *Store) Scan(ctx context.Context, tbl table.RecordKey, r table.ScanRequest) (table.Page, error) {
	if err := ctx.Err(); err != nil {
		return table.Page{}, err
	}
	for {
		l := s.tables.find(tbl)
		if l == nil {
			err := s.awaitAndReturn(ctx, s.catalog.last.Load(), table.ErrNoTable)
			if isShort(err) {
				return s.scanDurable(ctx, tbl, &r)
			}
			return table.Page{}, err
		}
		b := table.NewPageBuilder(&r)
		b.Traits, b.Now = l.traitsAndTime(s.journal.clock)
		it, err := s.db.NewIter(l.bounds(r.InOrder()[0]))
		if err != nil {
			return table.Page{}, err
		}
		if l.dropped.Load() {
			if err := it.Close(); err != nil {
				return table.Page{}, err
			}
			continue
		}
		// The iterator shows only commits with numbers up to n. Wait for these commits after reading the page, because
		// by then their fsync has usually finished.
		n := s.journal.last.Load()
		page, err := collect(ctx, it, l, &r, b, nil)
		if err != nil {
			return table.Page{}, err
		}
		if err := s.journal.wait(ctx, n); err != nil {
			page.Recycle()
			if isShort(err) {
				return s.scanDurable(ctx, tbl, &r)
			}
			return table.Page{}, err
		}
		return page, nil
	}
}

// scanDurable is like Scan, but reads the state without commits that might not be durable yet.
func (s *Store) scanDurable(ctx context.Context, tbl table.RecordKey, r *table.ScanRequest) (table.Page, error) {
	var l *liveTable
	var it *pebble.Iterator
	var hidden []hiddenRow
	b := table.NewPageBuilder(r)
	err := s.withDurableView(func(v view) (err error) {
		if l, err = v.liveTable(tbl); err != nil {
			return err
		}
		b.Traits, b.Now = l.traitsAndTime(s.journal.clock)
		hidden = v.rows(l, key.Range{Start: r.Ranges[0].Start, End: r.Ranges[len(r.Ranges)-1].End})
		if r.Descending {
			slices.Reverse(hidden)
		}
		it, err = v.from.NewIter(l.bounds(r.InOrder()[0]))
		return err
	})
	if err != nil {
		return table.Page{}, err
	}
	return collect(ctx, it, l, r, b, hidden)
}

func (l *liveTable) bounds(r key.Range) *pebble.IterOptions {
	o := &pebble.IterOptions{LowerBound: l.appendKey(nil, r.Start)}
	if r.End != nil {
		o.UpperBound = l.appendKey(nil, r.End)
	} else {
		o.UpperBound = layout.End(layout.AppendPrefix(nil, l.incarnation))
	}
	return o
}

// collect fills the page of b with the entities in the requested ranges, and closes the iterator. For each entity in
// hidden, the page shows the older state there instead of the current state.
func collect(ctx context.Context, it *pebble.Iterator, l *liveTable, r *table.ScanRequest, b table.PageBuilder, hidden []hiddenRow) (table.Page, error) {
	c := collector{b: b, m: pagerows.Get(), hidden: hidden, descending: r.Descending}
	c.b.Pause = r.Pause
	var err error
	for i, in := range r.InOrder() {
		if i > 0 {
			o := l.bounds(in)
			it.SetBounds(o.LowerBound, o.UpperBound)
		}
		if err = c.collect(ctx, it, in); err != nil || c.b.Page.Next != nil {
			break
		}
	}
	if err := errors.Join(err, it.Close()); err != nil {
		c.m.Recycle()
		return table.Page{}, err
	}
	c.b.Page.Rows, c.b.Page.Recycle = c.m.Rows, c.m.Recycle
	return c.b.Page, nil
}

type collector struct {
	b          table.PageBuilder
	m          *pagerows.Memory
	hidden     []hiddenRow
	descending bool
}

// collect examines the entities between the bounds of the iterator, and copies only those that belong to the page out
// of the iterator's memory.
func (c *collector) collect(ctx context.Context, it *pebble.Iterator, in key.Range) error {
	first, next := it.First, it.Next
	if c.descending {
		first, next = it.Last, it.Prev
	}
	for ok := first(); ok; ok = next() {
		k := it.Key()[layout.PrefixLength:]
		if len(c.hidden) > 0 {
			hides, err := c.collectOld(ctx, in, k)
			if err != nil || c.b.Page.Next != nil {
				return err
			}
			if hides {
				continue
			}
		}
		v, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		row, err := table.ParseRow(k, v)
		if err != nil {
			return err
		}
		verdict, err := c.b.Examine(ctx, &row)
		if err != nil || verdict == table.End {
			return err
		}
		if verdict == table.Take {
			c.m.Take(&row)
		}
	}
	if err := it.Error(); err != nil || len(c.hidden) == 0 {
		return err
	}
	_, err := c.collectOld(ctx, in, nil)
	return err
}

// collectOld examines the hidden entities in the range, up to the key end. If end is nil, it examines all of them.
// It reports whether a hidden entity has this key.
func (c *collector) collectOld(ctx context.Context, bounds key.Range, end []byte) (at bool, err error) {
	for len(c.hidden) > 0 && !at {
		h := c.hidden[0]
		if end != nil && c.isAfter(h.key, end) || c.isPastRange(h.key, bounds) {
			return false, nil
		}
		c.hidden = c.hidden[1:]
		at = end != nil && bytes.Equal(h.key, end)
		switch {
		case !bounds.Contains(h.key): // the entity is between two ranges
		case !h.known:
			return false, table.ErrFull
		case h.old.exists:
			verdict, err := c.b.Examine(ctx, &h.old.row)
			if err != nil || verdict == table.End {
				return at, err
			}
			if verdict == table.Take {
				c.m.Take(&h.old.row)
			}
		}
	}
	return at, nil
}

// isAfter reports whether a key comes after another key in the order of the scan.
func (c *collector) isAfter(k, other []byte) bool {
	if c.descending {
		return bytes.Compare(k, other) < 0
	}
	return bytes.Compare(k, other) > 0
}

// isPastRange reports whether a key comes after a range in the order of the scan.
func (c *collector) isPastRange(k []byte, bounds key.Range) bool {
	if c.descending {
		return bytes.Compare(k, bounds.Start) < 0
	}
	return bounds.End != nil && bytes.Compare(k, bounds.End) >= 0
}
