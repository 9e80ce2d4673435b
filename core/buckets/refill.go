package buckets

import (
	"bytes"
	"slices"

	"edgetable/core/key"
)

// refill runs the next wave of reads and sorts the streams by position.
func (s *scan) refill() error {
	s.plan()
	if err := s.read(); err != nil {
		return err
	}
	s.cost.Waves++
	rows := 0
	for i := range s.wave {
		f := &s.wave[i]
		if err := f.stream.appendChunk(&f.chunk, f.limit.Strict, s.down); err != nil {
			return err
		}
		s.recordRead(f.stream, &f.chunk)
		rows += len(f.chunk.Rows)
	}
	if s.page.Page.Rows == nil && s.req.Filter == nil && s.req.Rows > 0 {
		s.page.Page.Rows = slices.Grow(s.page.Page.Rows, min(rows, s.req.Rows))
	}
	clear(s.wave)
	s.order = slices.DeleteFunc(s.order, s.finished)
	slices.SortFunc(s.order, s.down.streams)
	return nil
}

// recordRead adds a read to the cost of the page and updates the estimate of partition lengths.
func (s *scan) recordRead(st *stream, c *Chunk) {
	visible := 0
	for i := range c.Rows {
		row := &c.Rows[i]
		visible += len(row.Key) + len(row.Properties)
		if st.alone {
			continue
		}
		if st.partition == nil || !bytes.HasPrefix(row.Key, st.partition) {
			if st.partition != nil {
				s.ends++
			}
			st.partition, st.run = key.Partition(row.Key), 0
		}
		st.run++
	}
	st.hidden += max(c.Scanned-visible, 0)
	s.visible += len(c.Rows)
	s.cost.Reads++
	s.cost.Rows += max(c.Examined, len(c.Rows))
	s.cost.Bytes += max(c.Scanned, visible)
}

// finished reports whether all rows of a stream have been read and examined. Without rows in memory, it adds the bytes
// that reads examined but did not return to Page.Scanned.
func (s *scan) finished(st *stream) bool {
	if len(st.rows) > 0 {
		return false
	}
	s.page.Page.Scanned += st.hidden
	st.hidden = 0
	return !st.open
}

// reorderFront restores the order after the position of the front stream has changed. It removes the stream if it is
// finished.
func (s *scan) reorderFront() {
	front := s.order[0]
	if s.finished(front) {
		s.order = s.order[1:]
		return
	}
	i := 1
	for ; i < len(s.order) && s.down.streams(s.order[i], front) < 0; i++ {
		s.order[i-1] = s.order[i]
	}
	s.order[i-1] = front
}
