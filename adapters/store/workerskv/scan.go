package workerskv

import (
	"bytes"
	"context"
	"errors"
	"math"

	"edgetable/core/key"
	"edgetable/core/table"
)

// pollBytes is how much a scan examines between two looks at the clock.
const pollBytes = 64 << 10

// scanner reads the entities of one life of a table.
type scanner struct {
	cells     *cells
	life      string
	journaled bool // transactions may have been written
	// long reads what names cannot hold; nil where there is no such thing.
	long func(ctx context.Context, r table.ScanRequest) (table.Page, error)

	request table.ScanRequest
	page    table.Page
	budget  budget
	size    int    // bytes in the page
	polled  int    // Scanned at the last look at the clock
	last    []byte // the last key that was examined, in the range at hand
	seen    seen
}

// scan reads a page.
func (s *scanner) scan(ctx context.Context) (table.Page, error) {
	s.budget.expired = s.request.Expired
	for i, r := range s.request.Ranges {
		st, at := s.open(r)
		s.last = nil
		full, err := s.startLong(ctx, st)
		if !full && err == nil {
			full, err = s.read(ctx, st)
		}
		if errors.Is(err, errSpent) {
			full, err = true, nil
		}
		if err != nil {
			return table.Page{}, err
		}
		if !full {
			continue
		}
		switch {
		case s.page.Next != nil: // of what names cannot hold
		case s.last != nil:
			s.page.Next = st.resume().position(s.last)
		case i > 0:
			s.page.Next = bytes.Clone(r.Start)
		default:
			err = s.push(ctx, st, at)
		}
		return s.page, err
	}
	return s.page, nil
}

// open begins a range.
func (s *scanner) open(r key.Range) (*stream, cursors) {
	start, at := splitPosition(r.Start)
	r.Start = start
	prefix := entities(s.life)
	st := &stream{r: r, prefix: prefix}
	if k, ok := pointOf(r); ok {
		st.entities = newPoint(s.cells, &s.budget, nameOf(prefix, k))
		if s.journaled {
			st.journals = s.journal(r, journalOf(s.life, k))
		}
		return st, at
	}
	common := prefixOf(r)
	common = common[:cut(common, MaxKey)]
	if at.common > len(common) { // not ours: what a range has in common only gets longer
		at.entities, at.journal = "", ""
	} else if at.entities != "" || at.journal != "" {
		common = common[:cut(common, at.common)]
	}
	st.common = len(common)
	limit := math.MaxInt
	if s.request.Filter == nil && s.request.Rows > 0 {
		limit = s.request.Rows + 1
	}
	st.entities = newWalk(s.cells, &s.budget, nameOf(prefix, common), nameOf(prefix, start), at.entities, limit)
	if !s.journaled {
		return st, at
	}
	if bytes.IndexByte(common, 0) >= 0 {
		st.journals = s.journal(r, journalOf(s.life, common))
		return st, at
	}
	st.journals = &journalStream{r: r, seen: &s.seen, walk: newWalk(
		s.cells, &s.budget, nameOf(journals(s.life), common), journalOf(s.life, start), at.journal, limit,
	)}
	if r.End != nil {
		st.journals.end = journalOf(s.life, r.End)
	}
	return st, at
}

// journal is that of the only partition of a range.
func (s *scanner) journal(r key.Range, name string) *journalStream {
	j := &journalStream{r: r, end: name, seen: &s.seen}
	if s.seen.name == name {
		j.again()
	} else {
		j.walk = newPoint(s.cells, &s.budget, name)
	}
	return j
}

// read examines a range until it is finished or the page is full. The first key
// is examined whatever the budget, so that every page gets on.
func (s *scanner) read(ctx context.Context, st *stream) (full bool, err error) {
	r := &s.request
	for {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		c, err := st.peek(ctx)
		if c == nil || err != nil {
			return false, err
		}
		if c.gone() {
			s.pass(st, c)
			continue
		}
		if r.Rows > 0 && len(s.page.Rows) == r.Rows || r.ScanBytes > 0 && s.page.Scanned >= r.ScanBytes {
			return true, nil
		}
		if c.entity != nil && c.entity.mark {
			full, err := s.readLong(ctx, st, c.key)
			if full || err != nil {
				return full, err
			}
			continue
		}
		row, ok, err := st.resolve(ctx, c)
		if err != nil {
			return false, err
		}
		if !ok {
			s.pass(st, c)
			continue
		}
		if s.full(&row) {
			return true, nil
		}
		s.pass(st, c)
	}
}

// pass goes on behind a key that was examined, or where there is nothing any more.
func (s *scanner) pass(st *stream, c *candidate) {
	s.last, s.budget.begun = c.key, true
	st.take(c)
}

// full examines a row, unless the page was full before.
func (s *scanner) full(row *table.Row) bool {
	r := &s.request
	n := len(row.Key) + len(row.Properties)
	// The clock is asked before the second row, so that a deadline long past
	// costs one, then before each that would go beyond 64 KiB.
	if s.page.Scanned > 0 && (s.polled == 0 || s.page.Scanned+n-s.polled > pollBytes) {
		s.polled = s.page.Scanned
		if r.Expired != nil && r.Expired() {
			return true
		}
	}
	matches := r.Filter == nil || r.Filter.Match(row.Key, row.Timestamp, row.Properties)
	if matches && r.Bytes > 0 && s.size+n > r.Bytes && len(s.page.Rows) > 0 {
		return true
	}
	s.page.Scanned += n
	if matches {
		s.size += n
		s.page.Rows = append(s.page.Rows, *row)
	}
	return false
}

// push ends a page whose calls were all spent before the first row, on names
// that are before it. It brings along how far they got, which only a position behind
// a key can: so it looks whether the range starts with an entity.
func (s *scanner) push(ctx context.Context, st *stream, at cursors) error {
	next := st.resume()
	k := st.r.Start
	if n := len(k); n > 0 && k[n-1] == 1 {
		k = k[:n-1]
		if at.count == math.MaxUint16 {
			return table.ErrBusy
		}
		next.count = at.count + 1
	} else {
		if bytes.IndexByte(k, 0) < 0 {
			k = append(bytes.Clone(k), 0)
		}
		one := *s
		one.request.Ranges = []key.Range{{Start: k, End: append(bytes.Clone(k), 1)}}
		one.budget.calls = 2
		page, err := one.scan(ctx)
		if err != nil {
			return err
		}
		s.page = page
	}
	s.page.Next = next.position(k)
	return nil
}
