package buckets

import (
	"bytes"
	"errors"

	"edgetable/core/key"
	"edgetable/core/table"
)

// stream is one bucket's part of a range: rows that were read and not examined,
// and behind them what is left to read.
type stream struct {
	bucket uint16
	alone  bool // no other stream has rows in this range
	stuck  bool // the last read did not move
	open   bool // there is something left to read
	rest   key.Range
	rows   []table.Row
	hidden int // bytes of the last read that its rows do not account for
}

// position is at or before everything the stream will yield.
func (st *stream) position() []byte {
	if len(st.rows) > 0 {
		return st.rows[0].Key
	}
	return st.rest.Start
}

// before orders streams.
func (st *stream) before(other *stream) bool {
	if c := bytes.Compare(st.position(), other.position()); c != 0 {
		return c < 0
	}
	return len(st.rows) == 0
}

// settle puts the first stream where its position belongs, or away if it has
// nothing left.
func (s *scan) settle() {
	front := s.order[0]
	if len(front.rows) == 0 {
		s.page.Scanned += front.hidden
		front.hidden = 0
		if !front.open {
			s.order = s.order[1:]
			return
		}
	}
	i := 1
	for ; i < len(s.order) && s.order[i].before(front); i++ {
		s.order[i-1] = s.order[i]
	}
	s.order[i-1] = front
}

var errSource = errors.New("bucket was read out of order")

// take adds what was read of range r to the stream.
func (st *stream) take(r key.Range, c *Chunk) error {
	at := r.Start
	for i := range c.Rows {
		k := c.Rows[i].Key
		if order := bytes.Compare(at, k); order > 0 || order == 0 && i > 0 {
			return errSource
		}
		at = k
	}
	n := len(c.Rows)
	if n > 0 && r.End != nil && bytes.Compare(at, r.End) >= 0 {
		return errSource
	}
	next := c.Next
	if next != nil && r.End != nil && bytes.Compare(next, r.End) >= 0 {
		next = nil
	}
	if next != nil {
		if order := bytes.Compare(at, next); order > 0 || order == 0 && n > 0 {
			return errSource
		}
	}
	switch {
	case next != nil:
		st.stuck = n == 0 && bytes.Equal(next, r.Start)
		st.rest.Start = next
	case r.End != nil && (st.rest.End == nil || bytes.Compare(r.End, st.rest.End) < 0):
		st.rest.Start = r.End // only a part of what is left was asked for
	default:
		st.open = false
	}
	st.rows = c.Rows
	return nil
}
