package buckets

import (
	"errors"

	"edgetable/core/key"
	"edgetable/core/table"
)

// stream is the part of a range that lies in one bucket. It holds the rows that were read but not yet examined, and
// the part of the range that was not read yet.
type stream struct {
	bucket uint16
	part   int  // index of the range in the request
	alone  bool // set if the whole range lies in this bucket
	point  bool // set if the range can hold at most one row

	fresh  bool // set if no read has been made yet
	open   bool // set if a further read may find rows
	stuck  bool // set if the last read returned no rows and ended where it started
	heavy  bool // set if a strict read left out the next row, because it did not fit the limit
	rest   key.Range
	rows   []table.Row
	hidden int // bytes that the reads examined but did not return

	partition []byte // partition of the last row that was read, with the separator
	run       int    // number of rows read in this partition
}

// position returns the position of the stream: the key of its next row, or the point where its next read begins.
func (st *stream) position(down direction) []byte {
	if len(st.rows) > 0 {
		return st.rows[0].Key
	}
	return down.begin(st.rest)
}

// streams compares two streams by position. Two streams may have the same position: one has a row in memory, and the
// other must be read first. In an ascending scan, the unread stream comes first, because it must be read before the
// scan passes the position. In a descending scan, the stream with the row comes first. The position of the unread
// stream is then an exclusive upper bound, so no unread row has this key.
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

var errSource = errors.New("a bucket (a part of the table) returned rows that are out of order or outside the requested range")

// appendChunk adds a chunk to the stream. If the chunk violates the contract of Source, it returns errSource.
func (st *stream) appendChunk(c *Chunk, strict bool, down direction) error {
	r, next := st.rest, c.Next
	at, behind := down.begin(r), false // lower bound of the next key, and whether the bound is exclusive
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
