package message

import (
	"bytes"
	"encoding/binary"

	"edgetable/core/key"
	"edgetable/core/odata"
	"edgetable/core/table"
)

// Scan requests a page of one bucket. In each limit, 0 means no limit.
type Scan struct {
	Ranges    []key.Range
	Filter    *odata.Filter
	Rows      int
	Bytes     int
	ScanBytes int // the maximum number of bytes to examine
	// ScanRows is the maximum number of rows to examine.
	ScanRows int
	// Strict means that ScanBytes also applies to the first row.
	Strict bool
	// Descending, Count and Ended mean the same as in [table.ScanRequest].
	Descending, Count, Ended bool
}

// Position returns the position at which the scan begins. The message must be sent to the object that has this
// position.
func (s *Scan) Position() []byte {
	if s.Descending {
		return key.PositionBelow(s.Ranges[len(s.Ranges)-1].End)
	}
	return s.Ranges[0].Start
}

// Leaves returns the position at which a scan of the range r continues in another object, or nil if the scan ends in
// this object. The parameter bounds contains the keys of this object.
func (s *Scan) Leaves(r, bounds key.Range) []byte {
	switch {
	case s.Descending && bytes.Compare(r.Start, bounds.Start) < 0:
		return bounds.Start
	case !s.Descending && bounds.End != nil && (r.End == nil || bytes.Compare(r.End, bounds.End) > 0):
		return bounds.End
	}
	return nil
}

// AppendScan appends the message OpScan.
func AppendScan(dst []byte, p *Destination, s *Scan) []byte {
	dst = beginAt(dst, OpScan, p)
	dst = appendNumber(dst, uint64(len(s.Ranges)))
	for _, g := range s.Ranges {
		dst = AppendBounds(dst, g)
	}
	dst = AppendBytes(dst, s.Filter.Append(nil))
	for _, n := range [...]int{s.Rows, s.Bytes, s.ScanBytes, s.ScanRows} {
		dst = appendNumber(dst, uint64(min(max(n, 0), 1<<31-1)))
	}
	dst = appendBool(dst, s.Strict)
	if s.Descending || s.Count || s.Ended { // an object of an earlier version refuses a message with these fields
		dst = appendBool(appendBool(dst, s.Descending), s.Count)
	}
	if s.Ended {
		dst = appendBool(dst, s.Ended)
	}
	return dst
}

// Scan reads the fields of the message after Destination.
func (r *Reader) Scan() (s Scan) {
	n := r.Number(uint64(len(r.rest)))
	s.Ranges = make([]key.Range, 0, min(n, 128))
	for range n {
		g := r.Bounds()
		if r.bad {
			return s
		}
		s.Ranges = append(s.Ranges, g)
	}
	filter, err := odata.Decode(r.Bytes())
	s.Filter, r.bad = filter, r.bad || err != nil
	s.Rows, s.Bytes, s.ScanBytes, s.ScanRows = r.Size(), r.Size(), r.Size(), r.Size()
	s.Strict = r.Bool()
	if !r.Done() {
		s.Descending, s.Count = r.Bool(), r.Bool()
	}
	if r.OK() && !r.Done() {
		s.Ended = r.Bool()
	}
	return s
}

// PageWriter writes the answer to a Scan.
type PageWriter struct {
	dst      []byte
	count    int // the offset of the number of rows
	rows     uint32
	examined int // number of bytes that were examined before the next row
}

// BeginPage begins the answer to a Scan.
func BeginPage(dst []byte) PageWriter {
	dst = Done(dst)
	return PageWriter{dst: append(dst, 0, 0, 0, 0), count: len(dst)}
}

// Rows returns the number of rows in the page.
func (w *PageWriter) Rows() int { return int(w.rows) }

// Add appends a row with a value in the form of [table.AppendRow]. The parameter examined is the number of bytes that
// were examined for the page so far, including the row.
func (w *PageWriter) Add(k, value []byte, examined int) {
	w.dst = appendNumber(w.dst, uint64(examined-w.examined))
	w.dst = AppendBytes(w.dst, k)
	w.dst = AppendBytes(w.dst, value)
	w.rows++
	w.examined = examined
}

const (
	endNone   = iota // all ranges were read
	endLimits        // a limit was reached
	endBorder        // the scan reached the end of the object's keys
)

// End ends the page. The parameter nextPage is the position at which the next page begins, or nil if all ranges
// were read. The parameter border means that another object has the keys from that position on.
func (w *PageWriter) End(nextPage []byte, border bool, examined, examinedRows int) []byte {
	binary.BigEndian.PutUint32(w.dst[w.count:], w.rows)
	w.dst = appendNumber(w.dst, uint64(examined-w.examined))
	w.dst = appendNumber(w.dst, uint64(examinedRows))
	switch {
	case nextPage == nil:
		return append(w.dst, endNone)
	case border:
		return AppendBytes(append(w.dst, endBorder), nextPage)
	}
	return AppendBytes(append(w.dst, endLimits), nextPage)
}

// AppendCount appends the number of entities, if the Scan has Count.
func AppendCount(page []byte, count int) []byte { return appendNumber(page, uint64(count)) }

// leastRow is the minimum size of a row in a page.
const leastRow = 1 + 1 + 1 + 16

// PageRows reads the number of rows that follow in a page.
func (r *Reader) PageRows() int {
	n := r.Uint32()
	if uint64(n)*leastRow > uint64(len(r.rest)) {
		r.bad = true
		return 0
	}
	return int(n)
}

// Row reads a row of a page, and the number of bytes that were examined since the previous row.
func (r *Reader) Row() (row table.Row, examined int) {
	examined = r.Size()
	k := r.Bytes()
	row, err := table.ParseRow(k, r.Bytes())
	if err != nil {
		r.bad = true
	}
	return row, examined
}

// PageEnd reads the fields after the rows of a page: nextPage and border as in [PageWriter.End], and the numbers of
// bytes and rows that were examined.
func (r *Reader) PageEnd() (nextPage []byte, border bool, examined, examinedRows int) {
	examined, examinedRows = r.Size(), r.Size()
	if end := r.Byte(); end != endNone {
		border = end == endBorder
		if nextPage = r.Bytes(); nextPage == nil {
			nextPage = []byte{}
		}
	}
	return nextPage, border, examined, examinedRows
}
