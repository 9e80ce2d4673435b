package workerskv

import (
	"bytes"
	"context"
	"errors"
	"math"

	"edgetable/core/key"
	"edgetable/core/table"
)

// scanner reads one page of a scan of one incarnation of a table.
type scanner struct {
	ns     Namespace
	prefix string // prefix of the names of entities
	// scanLongKeys is the function that scans the primary for keys that are too long for names. It is nil in a
	// Store, which has no such keys.
	scanLongKeys func(ctx context.Context, r table.ScanRequest) (table.Page, error)

	request table.ScanRequest
	page    table.PageBuilder
	budget  budget
	last    []byte // the last examined key of the current range
}

// stream returns the entities of a range in key order, and marks for keys that are too long for names.
type stream struct {
	r      key.Range
	prefix string // prefix of the names of entities
	common int    // length of the part of the keys in the prefix of the KV list
	walk   *walk
}

func (s *scanner) scan(ctx context.Context) (table.Page, error) {
	s.budget.expired = s.request.Expired
	s.page = table.NewPageBuilder(&s.request)
	for i, r := range s.request.Ranges {
		st, at, err := s.open(ctx, r)
		s.last = nil
		full := false
		if err == nil {
			full, err = s.startLong(ctx, st)
		}
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
		case s.page.Page.Next != nil: // the method delegate has set Next
		case s.last != nil:
			s.page.Page.Next = st.resume().position(s.last)
		case i > 0:
			s.page.Page.Next = bytes.Clone(r.Start)
		default:
			err = s.push(ctx, st, at)
		}
		return s.page.Page, err
	}
	return s.page.Page, nil
}

// open opens the stream of a range. It also returns the cursor that the start of the range contains.
func (s *scanner) open(ctx context.Context, r key.Range) (*stream, cursor, error) {
	start, at := splitPosition(r.Start)
	r.Start = start
	st := &stream{r: r, prefix: s.prefix}
	if k, ok := pointOf(r); ok {
		var err error
		st.walk, err = newPoint(ctx, s.ns, &s.budget, nameOf(s.prefix, k))
		return st, at, err
	}
	common := prefixOf(r)
	common = common[:cutLength(common, maxKey)]
	if at.common > len(common) { // the cursor is invalid, because the common prefix of a scan never becomes shorter
		at.kv = ""
	} else if at.kv != "" {
		common = common[:cutLength(common, at.common)]
	}
	st.common = len(common)
	limit := math.MaxInt
	if s.request.Filter == nil && s.request.Rows > 0 {
		limit = s.request.Rows + 1
	}
	st.walk = newWalk(s.ns, &s.budget, nameOf(s.prefix, common), nameOf(s.prefix, start), at.kv, limit)
	return st, at, nil
}

// peek returns the current entity or mark, and its key. It returns nil at the end of the range.
func (s *stream) peek(ctx context.Context) (*foundName, []byte, error) {
	f, err := s.walk.peek(ctx)
	if f == nil || err != nil {
		return nil, nil, err
	}
	k := keyOf(s.prefix, f.name)
	if f.mark {
		k = markedBy(s.prefix, f.name)
	}
	if k == nil {
		return nil, nil, errCell
	}
	if s.r.End != nil && bytes.Compare(k, s.r.End) >= 0 {
		return nil, nil, nil
	}
	return f, k, nil
}

// resume returns the cursor at which a later page can continue the stream.
func (s *stream) resume() cursor { return cursor{common: s.common, kv: s.walk.resume()} }

// read examines entities until the range ends or the page is full. It always examines the first key, so that every page
// makes progress.
func (s *scanner) read(ctx context.Context, st *stream) (full bool, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		f, k, err := st.peek(ctx)
		if f == nil || err != nil {
			return false, err
		}
		if s.page.Full() {
			return true, nil
		}
		if f.mark {
			if full, err := s.readLong(ctx, st, k); full || err != nil {
				return full, err
			}
			continue
		}
		cell, err := st.walk.body(ctx, f)
		if err != nil {
			return false, err
		}
		if cell != nil {
			row, err := table.ParseRow(k, cell)
			if err != nil {
				return false, err
			}
			if full, err := s.examine(ctx, &row); full || err != nil {
				s.page.Page.Next = nil // the method scan sets Next to a position that contains the cursor of KV
				return full, err
			}
		}
		s.last, s.budget.begun = k, true
		st.walk.skipCell()
	}
}

// examine adds a row to the page if the row matches the filter. The result isFull means that the page was already full
// and the row was not added.
func (s *scanner) examine(ctx context.Context, row *table.Row) (isFull bool, err error) {
	verdict, err := s.page.Examine(ctx, row)
	if verdict == table.Take {
		s.page.Page.Rows = append(s.page.Page.Rows, *row)
	}
	return verdict == table.End, err
}

// push ends a page that has used up its calls before it reached the range. The next page must continue at KV's cursor,
// which a position contains only after an examined key. So push examines the key at the start of the range, even if no
// entity has this key.
func (s *scanner) push(ctx context.Context, st *stream, at cursor) error {
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
		s.page.Page = page
	}
	s.page.Page.Next = next.position(k)
	return nil
}
