package buckets

import (
	"errors"

	"edgetable/core/key"
	"edgetable/core/table"
)

// stream is the part of a range in one bucket. It holds the rows that were read but not examined yet, and the rest of
// the range.
type stream struct {
	bucket uint16
	part   int  // index of the range in the request
	alone  bool // whether the whole range is in this bucket
	point  bool // whether the range can hold at most one row

	fresh  bool // whether no read has been made yet
	open   bool // whether a further read may find rows
	stuck  bool // whether the last read returned no rows and made no progress
	heavy  bool // whether a strict read omitted the next row because it did not fit into the limit
	rest   key.Range
	rows   []table.Row
	hidden int // number of bytes that were examined but not returned

	partition []byte // partition of the last row read, with the separator
	run       int    // number of rows read in partition
}

// position returns the key of the next row if it is in memory, and otherwise the position at which the next read
// begins.
func (st *stream) position(down direction) []byte {
	if len(st.rows) > 0 {
		return st.rows[0].Key
	}
	return down.startOf(st.rest)
}

// streams compares two streams by position. At the same position, an unread stream comes first, because its next row
// may have this key.
func (down direction) streams(a, b *stream) int {
	if c := down.compare(a.position(down), b.position(down)); c != 0 {
		return c
	}
	switch unread := len(a.rows) == 0; {
	case unread == (len(b.rows) == 0):
		return 0
	case unread != bool(down): // in a descending scan, the position of an unread stream is an exclusive bound
		return -1
	}
	return 1
}

var errSource = errors.New("a bucket (a part of the table) returned rows that are out of order or outside the requested range")

// appendChunk adds a chunk to the stream. It returns errSource if the chunk violates the contract of Source.
func (st *stream) appendChunk(c *Chunk, strict bool, down direction) error {
	r, next := st.rest, c.Next
	at, behind := down.startOf(r), false // bound of the next key in scan order; behind is set if a row has this key
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
	st.stuck = down.compare(next, down.startOf(r)) == 0 && !strict
	st.rest = rest
	return nil
}
