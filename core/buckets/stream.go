package buckets

import (
	"bytes"
	"errors"

	"edgetable/core/key"
	"edgetable/core/table"
)

// stream is one bucket's part of a range: rows that were read but not examined, and the
// rest of the range.
type stream struct {
	bucket uint16
	part   int  // which of the ranges
	alone  bool // no other stream has rows in this range
	point  bool // the range has one row at most

	fresh  bool // it was never read
	open   bool // there is something left to read
	stuck  bool // the last read did not move
	heavy  bool // a strict read left out the row at rest.Start
	rest   key.Range
	rows   []table.Row
	hidden int // bytes that were examined to get rows, beyond those of rows

	partition []byte // of the last row that was read, with the separator
	run       int    // rows that were read of it
}

// position is at or before everything the stream will yield.
func (st *stream) position() []byte {
	if len(st.rows) > 0 {
		return st.rows[0].Key
	}
	return st.rest.Start
}

// compare orders streams by position. A stream that must be read comes before one that has
// a row at the same position, so that the merge reads before it passes the position.
func compare(a, b *stream) int {
	if c := bytes.Compare(a.position(), b.position()); c != 0 {
		return c
	}
	switch {
	case len(a.rows) == 0 && len(b.rows) > 0:
		return -1
	case len(a.rows) > 0 && len(b.rows) == 0:
		return 1
	}
	return 0
}

var errSource = errors.New("a bucket's rows are not in order, or not in the range that was read")

// take adds a chunk to the stream.
func (st *stream) take(c *Chunk, strict bool) error {
	r, next := st.rest, c.Next
	at, behind := r.Start, false // the least that may follow, or what must be passed
	for i := range c.Rows {
		k := c.Rows[i].Key
		if order := bytes.Compare(k, at); order < 0 || order == 0 && behind {
			return errSource
		}
		at, behind = k, true
	}
	if behind && r.End != nil && bytes.Compare(at, r.End) >= 0 {
		return errSource
	}
	if next != nil {
		if order := bytes.Compare(next, at); order < 0 || order == 0 && behind {
			return errSource
		}
	}
	st.fresh = false
	st.heavy = strict && next != nil && len(c.Rows) == 0 && c.Examined == 0
	if len(st.rows) == 0 {
		st.rows = c.Rows
	} else {
		st.rows = append(st.rows, c.Rows...)
	}
	if next == nil || r.End != nil && bytes.Compare(next, r.End) >= 0 || st.point && behind {
		st.open = false
		return nil
	}
	st.stuck = bytes.Equal(next, r.Start) && !strict
	st.rest.Start = next
	return nil
}
