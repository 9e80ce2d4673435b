package buckets

import (
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
	heavy  bool // a strict read left out the row at the position
	rest   key.Range
	rows   []table.Row
	hidden int // bytes that were examined to get rows, beyond those of rows

	partition []byte // of the last row that was read, with the separator
	run       int    // rows that were read of it
}

// position is at or before everything the stream will yield.
func (st *stream) position(down direction) []byte {
	if len(st.rows) > 0 {
		return st.rows[0].Key
	}
	return down.begin(st.rest)
}

// streams orders streams by position. At the same position a stream that must be read comes
// first in an ascending scan, so that the merge reads before it passes the position. In a
// descending scan a row comes first: the other stream has none with that key.
func (down direction) streams(a, b *stream) int {
	if c := down.compare(a.position(down), b.position(down)); c != 0 {
		return c
	}
	switch unread := len(a.rows) == 0; {
	case unread == (len(b.rows) == 0):
		return 0
	case unread != bool(down):
		return -1
	}
	return 1
}

var errSource = errors.New("a bucket's rows are not in order, or not in the range that was read")

// take adds a chunk to the stream.
func (st *stream) take(c *Chunk, strict bool, down direction) error {
	r, next := st.rest, c.Next
	at, behind := down.begin(r), false // the least that may follow, or what must be passed
	for i := range c.Rows {
		k := c.Rows[i].Key
		if order := down.compare(k, at); order < 0 || order == 0 && (behind || bool(down)) {
			return errSource
		}
		at, behind = k, true
	}
	if behind && !r.Contains(at) {
		return errSource
	}
	if next != nil {
		if order := down.compare(next, at); order < 0 || order == 0 && behind && !bool(down) {
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
	rest := down.from(r, next)
	if next == nil || rest.Empty() || st.point && behind {
		st.open = false
		return nil
	}
	st.stuck = down.compare(next, down.begin(r)) == 0 && !strict
	st.rest = rest
	return nil
}
