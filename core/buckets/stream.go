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
	alone  bool // set if no other stream has rows of this range
	point  bool // set if the range holds at most one row

	fresh  bool // set before the first read
	open   bool // set while there are rows that were not read yet
	stuck  bool // set if the last read returned no rows and no later position
	heavy  bool // set if a strict read left out the next row, because it did not fit the limit
	rest   key.Range
	rows   []table.Row
	hidden int // bytes that reads examined in addition to the rows that they returned

	partition []byte // partition of the last row read, with the separator
	run       int    // number of rows read of that partition
}

// position returns a position at or before all rows that the stream has not yet examined.
func (st *stream) position(down direction) []byte {
	if len(st.rows) > 0 {
		return st.rows[0].Key
	}
	return down.begin(st.rest)
}

// streams orders streams by position. Two streams can have the same position, one with a row in memory and one that
// must be read first. In an ascending scan the stream to read precedes, so that the merge reads it before it moves
// past the position. In a descending scan the stream with the row precedes, because the other stream has no row with
// that key.
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

var errSource = errors.New("the rows of a bucket are out of order or outside the requested range")

// appendChunk adds a chunk to the stream, or returns errSource if the chunk breaks the contract of Source.
func (st *stream) appendChunk(c *Chunk, strict bool, down direction) error {
	r, next := st.rest, c.Next
	at, behind := down.begin(r), false // lower bound of the next key, and whether it is exclusive
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
