package buckets

import (
	"errors"

	"edgetable/core/key"
	"edgetable/core/table"
)

// stream is the part of a range that lies in one bucket: the rows that were read but not yet examined, and the rest
// of the range.
type stream struct {
	bucket uint16
	part   int  // index of the range in the request
	alone  bool // no other stream has rows in this range
	point  bool // the range holds at most one row

	fresh  bool // no read was made yet
	open   bool // there is something left to read
	stuck  bool // the last read made no progress
	heavy  bool // a strict read left out the row at the position
	rest   key.Range
	rows   []table.Row
	hidden int // bytes examined to get rows, not counting rows themselves

	partition []byte // partition of the last row read, with the separator
	run       int    // number of rows read of that partition
}

// position returns a position at or before everything that the stream will still yield.
func (st *stream) position(down direction) []byte {
	if len(st.rows) > 0 {
		return st.rows[0].Key
	}
	return down.begin(st.rest)
}

// streams orders streams by position. In an ascending scan, of two streams at one position the one that must be read
// comes first, so that the merge reads it before moving past. In a descending scan the one that shows a row comes
// first, because the other stream has no row with that key.
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

// take adds a chunk to the stream, or returns errSource if the chunk breaks the contract of Source.
func (st *stream) take(c *Chunk, strict bool, down direction) error {
	r, next := st.rest, c.Next
	at, behind := down.begin(r), false // the least key that may follow, and whether it must be exceeded
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
