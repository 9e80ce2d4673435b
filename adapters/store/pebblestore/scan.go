package pebblestore

import (
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/core/key"
	"edgetable/core/table"
)

// pollBytes is how much is examined at most between two looks at the deadline.
const pollBytes = 64 << 10

// Scan implements table.Store. The page is a snapshot; its cost depends on what
// is examined, not on the size of the table.
func (s *Store) Scan(ctx context.Context, tbl table.RecordKey, r table.ScanRequest) (table.Page, error) {
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
		// All that the iterator can show was registered before it was made. The
		// wait for it comes last: by then the fsync is mostly over.
		n := s.journal.last.Load()
		c := collector{ctx: ctx, request: &r, memory: memories.Get().(*memory)}
		for i := range r.Ranges {
			if i > 0 {
				o := l.bounds(r.Ranges[i])
				it.SetBounds(o.LowerBound, o.UpperBound)
			}
			if err = c.collect(it); err != nil || c.page.Next != nil {
				break
			}
		}
		if err := errors.Join(err, it.Close()); err != nil {
			c.memory.recycle()
			return table.Page{}, err
		}
		if err := s.journal.wait(ctx, n); err != nil {
			c.memory.recycle()
			return table.Page{}, err
		}
		c.page.Rows, c.page.Recycle = c.memory.rows, c.memory.recycle
		return c.page, nil
	}
}

// bounds of the full keys of a range.
func (l *life) bounds(r key.Range) *pebble.IterOptions {
	o := &pebble.IterOptions{LowerBound: l.appendKey(nil, r.Start)}
	if r.End != nil {
		o.UpperBound = l.appendKey(nil, r.End)
	} else {
		o.UpperBound = prefixEnd(appendPrefix(nil, l.incarnation))
	}
	return o
}

// collector makes a page.
type collector struct {
	ctx      context.Context
	request  *table.ScanRequest
	page     table.Page
	memory   *memory
	unpolled int // bytes examined since the deadline was looked at
}

// collect goes through the iterator's range. It judges rows where the iterator
// has them and copies those that pass.
func (c *collector) collect(it *pebble.Iterator) error {
	r, p, m := c.request, &c.page, c.memory
	for ok := it.First(); ok; ok = it.Next() {
		k := it.Key()[prefixLength:]
		v, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		end, err := c.ended(len(k) + len(v))
		if err != nil {
			return err
		}
		if end {
			p.Next = append([]byte(nil), k...)
			return nil
		}
		row, err := table.ParseRow(k, v)
		if err != nil {
			return err
		}
		if r.Filter != nil && !r.Filter.Match(k, row.Timestamp, row.Properties) {
			continue
		}
		if r.Bytes > 0 && len(m.rows) > 0 && m.used+len(k)+len(row.Properties) > r.Bytes {
			p.Next = append([]byte(nil), k...)
			return nil
		}
		row.Key = m.copy(k)
		row.Properties = m.copy(row.Properties)
		m.rows = append(m.rows, row)
	}
	return it.Error()
}

// ended reports whether the page ends before the next row, which has size bytes
// and counts as examined if not.
func (c *collector) ended(size int) (bool, error) {
	r, p, m := c.request, &c.page, c.memory
	if p.Scanned > 0 {
		if r.Rows > 0 && len(m.rows) >= r.Rows || r.ScanBytes > 0 && p.Scanned >= r.ScanBytes {
			return true, nil
		}
		if c.unpolled+size > pollBytes {
			c.unpolled = 0
			if err := c.ctx.Err(); err != nil {
				return false, err
			}
			if r.Expired != nil && r.Expired() {
				return true, nil
			}
		}
	}
	p.Scanned += size
	c.unpolled += size
	return false, nil
}
