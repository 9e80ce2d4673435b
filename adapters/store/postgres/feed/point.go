package feed

import (
	"encoding/binary"
	"slices"

	"edgetable/core/edm"
)

// Point is the set of transactions whose lines a reader has read: all transaction numbers up to High, except the
// numbers in Open.
type Point struct {
	High int64
	Open []int64 // in ascending order, below High; these transactions were still running when the reader read the lines
}

// Has reports whether the reader has read the lines of a transaction.
func (p *Point) Has(number int64) bool {
	if number > p.High {
		return false
	}
	_, open := slices.BinarySearch(p.Open, number)
	return !open
}

// low returns the lowest number of a transaction whose lines the reader has not read.
func (p *Point) low() int64 {
	if len(p.Open) > 0 {
		return p.Open[0]
	}
	return p.High + 1
}

// Snapshot is a snapshot of PostgreSQL. It shows the transactions with numbers below Max that are not in Running.
type Snapshot struct {
	Max     int64
	Running []int64 // in ascending order
}

// Shows reports whether a transaction had ended when the snapshot was taken.
func (s *Snapshot) Shows(number int64) bool {
	if number >= s.Max {
		return false
	}
	_, running := slices.BinarySearch(s.Running, number)
	return !running
}

// ParseSnapshot reads a txid_snapshot.
func ParseSnapshot(b []byte) (s Snapshot, ok bool) {
	if len(b) < 20 {
		return s, false
	}
	n := int(binary.BigEndian.Uint32(b))
	s.Max = int64(binary.BigEndian.Uint64(b[12:]))
	if b = b[20:]; len(b) != 8*n {
		return s, false
	}
	for ; len(b) > 0; b = b[8:] {
		s.Running = append(s.Running, int64(binary.BigEndian.Uint64(b)))
	}
	return s, slices.IsSorted(s.Running)
}

// afterReading returns the point that a reader at p reaches by reading all lines that s shows. highest is the number of
// a committed transaction, not below the number of any of these lines.
func (p *Point) afterReading(s *Snapshot, highest int64) Point {
	next := Point{High: max(p.High, highest)}
	for _, number := range p.Open {
		if !s.Shows(number) {
			next.Open = append(next.Open, number)
		}
	}
	for _, number := range s.Running {
		if p.High < number && number < next.High {
			next.Open = append(next.Open, number)
		}
	}
	slices.Sort(next.Open)
	return next
}

// Position is a position of a feed.
type Position struct {
	Point
	// Until is the end of the window if the position is inside a window, and otherwise nil. The lines of the window
	// have been read up to the Timestamp Last.
	Until *Point
	// Last and Number identify the last line that was read, by its Timestamp and its transaction number, or are 0. If
	// the line has disappeared before Trim could remove it, the database was restored to an earlier state.
	Last   edm.Ticks
	Number int64
	// Part is the number of changes of the last line that the client has read, or 0 if it has read the whole line. If
	// Part is not 0, Until is set.
	Part int64
	// Trims is how many times Trim had removed lines from the feed when the position was made. The reader has read the
	// removed lines.
	Trims int64
	Ended bool // the reader has read that the table was dropped
}

const (
	// longestPoint and longestPosition are maximum lengths of encoded values in bytes. A position consists of flags,
	// two points and four numbers.
	longestPoint    = 1024
	longestPosition = 1 + 2*longestPoint + 4*binary.MaxVarintLen64
	inWindow        = 1
	atEnd           = 2
	inLine          = 4
)

// Bytes encodes a position.
func (p *Position) Bytes() []byte {
	flags := byte(0)
	if p.Until != nil {
		flags |= inWindow
	}
	if p.Ended {
		flags |= atEnd
	}
	if p.Part != 0 {
		flags |= inLine
	}
	b := append(make([]byte, 0, 48), flags)
	b = p.Point.append(b)
	if p.Until != nil {
		b = p.Until.append(b)
	}
	b = binary.AppendUvarint(b, uint64(p.Last))
	b = binary.AppendUvarint(b, uint64(p.Number))
	b = binary.AppendUvarint(b, uint64(p.Trims))
	if p.Part != 0 {
		b = binary.AppendUvarint(b, uint64(p.Part))
	}
	return b
}

// readUpTo returns the Timestamp up to which all lines of the window were read completely.
func (p *Position) readUpTo() edm.Ticks {
	if p.Part != 0 {
		return p.Last - 1
	}
	return p.Last
}

func (p *Point) isTooLong() bool { return len(p.append(nil)) > longestPoint }

func (p *Point) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(p.High))
	b = binary.AppendUvarint(b, uint64(len(p.Open)))
	above := p.High
	for _, number := range slices.Backward(p.Open) {
		b = binary.AppendUvarint(b, uint64(above-number))
		above = number
	}
	return b
}

// ParsePosition is the inverse of Bytes.
func ParsePosition(b []byte) (p Position, ok bool) {
	if len(b) == 0 || len(b) > longestPosition || b[0] > inWindow|atEnd|inLine {
		return p, false
	}
	d := decoder{b[1:], true}
	p.Ended = b[0]&atEnd != 0
	p.Point = d.point()
	if b[0]&inWindow != 0 {
		p.Until = new(d.point())
	}
	p.Last, p.Number, p.Trims = edm.Ticks(d.number()), d.number(), d.number()
	if b[0]&inLine != 0 {
		p.Part = d.number()
		d.ok = d.ok && p.Part > 0 && p.Until != nil
	}
	return p, d.ok && len(d.rest) == 0
}

// decoder reads numbers. It clears ok if the input is invalid.
type decoder struct {
	rest []byte
	ok   bool
}

func (d *decoder) number() int64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 || v > 1<<62 {
		d.ok = false
		return 0
	}
	d.rest = d.rest[n:]
	return int64(v)
}

func (d *decoder) point() (p Point) {
	p.High = d.number()
	number := p.High
	for n := d.number(); n > 0 && d.ok; n-- {
		step := d.number()
		if step == 0 || step > number {
			d.ok = false
		}
		number -= step
		p.Open = append(p.Open, number)
	}
	slices.Reverse(p.Open)
	d.ok = d.ok && !p.isTooLong()
	return p
}
