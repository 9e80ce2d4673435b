package workerskv

import (
	"bytes"
	"context"

	"edgetable/core/key"
)

// In a replica, entities whose keys are too long for a name are read from the primary. A mark contains the prefix of
// such keys. All keys with that prefix, long or not, are then read from the primary.

// beyond sorts after every position that begins with k.
func beyond(k []byte) []byte { return append(bytes.Clone(k), 0xFF) }

// startLong reads the long keys at the start of a range that begins after their mark.
func (s *scanner) startLong(ctx context.Context, st *stream) (full bool, err error) {
	start := st.r.Start
	n := cut(start, overflow)
	if s.long == nil || n == len(start) {
		return false, nil
	}
	if _, ok := pointOf(st.r); ok && len(start) <= maxKey {
		return false, nil
	}
	return s.delegate(ctx, st, st.r.Intersect(key.Range{End: beyond(start[:n])}))
}

// readLong reads the long keys of a mark.
func (s *scanner) readLong(ctx context.Context, st *stream, k []byte) (full bool, err error) {
	if s.long == nil {
		return false, errCell
	}
	return s.delegate(ctx, st, st.r.Intersect(key.Range{Start: append(bytes.Clone(k), 1), End: beyond(k)}))
}

// delegate reads a range from the primary and moves past it.
func (s *scanner) delegate(ctx context.Context, st *stream, r key.Range) (full bool, err error) {
	if r.Empty() {
		return false, nil
	}
	one := s.request
	one.Ranges = []key.Range{r}
	if one.Rows > 0 {
		if one.Rows -= len(s.page.Page.Rows); one.Rows == 0 {
			return true, nil
		}
	}
	if one.ScanBytes > 0 {
		one.ScanBytes = max(one.ScanBytes-s.page.Page.Scanned, 1)
	}
	if one.Bytes > 0 {
		one.Bytes = max(one.Bytes-s.page.Size(), 1)
	}
	page, err := s.long(ctx, one)
	if err != nil {
		return false, err
	}
	s.page.Page.Scanned += page.Scanned
	s.page.Page.Examined += page.Examined - len(page.Rows) // examine counts these
	for i := range page.Rows {
		row := &page.Rows[i]
		s.page.Page.Scanned -= len(row.Key) + len(row.Properties) // examine counts them
		if full, err := s.examine(ctx, row); full || err != nil {
			return full, err
		}
	}
	if s.page.Page.Next = page.Next; page.Next != nil {
		return true, nil
	}
	s.last = r.End
	st.walk.skip(nameOf(st.prefix, r.End))
	return false, nil
}
