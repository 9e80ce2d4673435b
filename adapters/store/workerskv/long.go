package workerskv

import (
	"bytes"
	"context"

	"edgetable/core/key"
)

// A replica has only marks for entities whose keys are too long for a name in KV. A mark is a name with the beginning
// of such keys. A scan reads all keys with this beginning from the primary.

// positionAfter returns a position that sorts after every position with the prefix k.
func positionAfter(k []byte) []byte { return append(bytes.Clone(k), 0xFF) }

// startLong reads entities with long keys at the start of a range from the primary. This is necessary if the range
// begins after the mark of these keys, because the scan then does not reach the mark.
func (s *scanner) startLong(ctx context.Context, st *stream) (full bool, err error) {
	start := st.r.Start
	n := cutLength(start, overflow)
	if s.scanLongKeys == nil || n == len(start) {
		return false, nil
	}
	if _, ok := pointOf(st.r); ok && len(start) <= maxKey {
		return false, nil
	}
	return s.delegate(ctx, st, st.r.Intersect(key.Range{End: positionAfter(start[:n])}))
}

// readLong is called at a mark whose keys begin with k. It reads all entities whose keys begin with k from the primary.
func (s *scanner) readLong(ctx context.Context, st *stream, k []byte) (full bool, err error) {
	if s.scanLongKeys == nil {
		return false, errCell
	}
	return s.delegate(ctx, st, st.r.Intersect(key.Range{Start: append(bytes.Clone(k), 1), End: positionAfter(k)}))
}

// delegate reads the entities in r from the primary, adds them to the page, and moves the walk to the end of r.
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
	page, err := s.scanLongKeys(ctx, one)
	if err != nil {
		return false, err
	}
	s.page.Page.Scanned += page.Scanned
	s.page.Page.Examined += page.Examined - len(page.Rows) // the method examine counts these rows
	for i := range page.Rows {
		row := &page.Rows[i]
		s.page.Page.Scanned -= len(row.Key) + len(row.Properties) // the method examine counts these bytes
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
