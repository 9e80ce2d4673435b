// Package position encodes a position in the feed of a table compactly. A position contains a Timestamp for each range.
package position

import (
	"cmp"
	"encoding/binary"
	"slices"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/edm"
)

// Position is a position in a feed.
//
//   - Ranges contains the ranges that are being read.
//   - Done contains ranges that were read completely, and that handed over all their keys to a neighbour. Such a range
//     remains in Done until the reader has read the neighbour's line about these keys.
//   - Any other range was read completely or is new. The reader finds a new range in the lines of the range that gave
//     it keys.
type Position struct {
	Layout message.Layout
	Ended  bool      // whether the client has received the drop of the table
	Busy   bool      // whether a range that was asked in the current round over all ranges has more lines
	Drop   edm.Ticks // the highest Timestamp of a drop that a range reported; 0 if none did
	From   uint64    // the current round continues with the first range whose number is at least From: see Number
	Ranges []message.FeedRange
	Done   []message.Object
	// Part is the number of changes that the client has read of the next commit of the range PartOf. It is 0 unless the
	// position is inside a commit.
	Part   int
	PartOf message.Object
}

// Number returns the number of a range, by which Ranges is sorted.
func (p *Position) Number(o message.Object) uint64 {
	return uint64(o.Range)*uint64(max(p.Layout.Buckets, 1)) + uint64(o.Bucket)
}

func (p *Position) object(n uint64) message.Object {
	b := uint64(max(p.Layout.Buckets, 1))
	return message.Object{Bucket: uint16(n % b), Range: uint32(n / b)}
}

func (p *Position) search(o message.Object) (i int, ok bool) {
	return slices.BinarySearchFunc(p.Ranges, p.Number(o), func(r message.FeedRange, n uint64) int { return cmp.Compare(p.Number(r.Object), n) })
}

// At returns the Timestamp up to which a range was read. ok is false if the range is not in Ranges.
func (p *Position) At(o message.Object) (at edm.Ticks, ok bool) {
	i, ok := p.search(o)
	if !ok {
		return 0, false
	}
	return p.Ranges[i].At, true
}

// Knows reports whether Ranges or Done contains a range.
func (p *Position) Knows(o message.Object) bool {
	_, ok := p.search(o)
	return ok || slices.Contains(p.Done, o)
}

// Set records the Timestamp up to which a range was read.
func (p *Position) Set(o message.Object, at edm.Ticks) {
	i, ok := p.search(o)
	if !ok {
		p.Ranges = slices.Insert(p.Ranges, i, message.FeedRange{Object: o})
	}
	if p.Ranges[i].At != at && o == p.PartOf {
		p.Part = 0
	}
	p.Ranges[i].At = at
}

// SetPart records how many changes of a commit the client has read. The commit has the Timestamp ticks in the range o.
func (p *Position) SetPart(o message.Object, ticks edm.Ticks, part int) {
	p.Set(o, ticks-1)
	p.Done = slices.DeleteFunc(p.Done, func(done message.Object) bool { return done == o })
	p.Part, p.PartOf = part, o
}

// PartIn returns how many changes of the next commit of a range the client has read.
func (p *Position) PartIn(o message.Object) int {
	if p.PartOf != o {
		return 0
	}
	return p.Part
}

// Remove removes a range from Ranges.
func (p *Position) Remove(o message.Object) {
	if i, ok := p.search(o); ok {
		p.Ranges = slices.Delete(p.Ranges, i, i+1)
	}
}

// form is the first byte of an encoded position.
const form = 1

const (
	flagEnded = 1 << iota
	flagBusy
	flagPart
)

// A Timestamp is written as its difference to another Timestamp, divided by ten to the power of scale. If scale is
// absolute, the Timestamp itself is written.
const absolute = 15

// Append appends the encoded position. It writes the most frequent Timestamp of the ranges once, and combines ranges
// with consecutive numbers.
func (p *Position) Append(dst []byte) []byte {
	flags := byte(0)
	if p.Ended {
		flags |= flagEnded
	}
	if p.Busy {
		flags |= flagBusy
	}
	if p.Part > 0 {
		flags |= flagPart
	}
	base := p.commonTimestamp()
	dst = message.AppendLayout(append(dst, form, flags), p.Layout)
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(p.Drop)), p.From)
	if p.Part > 0 {
		dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(p.Part)), p.Number(p.PartOf))
	}
	dst = message.AppendObjects(binary.AppendUvarint(dst, uint64(base)), p.Done)
	next := uint64(0)
	for i := 0; i < len(p.Ranges); {
		first := p.Number(p.Ranges[i].Object)
		own := p.Ranges[i].At != base
		n := 1
		for i+n < len(p.Ranges) && p.Number(p.Ranges[i+n].Object) == first+uint64(n) && own == (p.Ranges[i+n].At != base) {
			n++
		}
		run := uint64(n) << 1
		if own {
			run |= 1
		}
		dst = binary.AppendUvarint(binary.AppendUvarint(dst, first-next), run)
		for _, r := range p.Ranges[i : i+n] {
			if own {
				dst = appendDifference(dst, r.At, base)
			}
		}
		next, i = first+uint64(n), i+n
	}
	return dst
}

// commonTimestamp returns the most frequent Timestamp of the ranges.
func (p *Position) commonTimestamp() (base edm.Ticks) {
	count := make(map[edm.Ticks]int, 8)
	for _, r := range p.Ranges {
		if count[r.At]++; count[r.At] > count[base] || count[r.At] == count[base] && r.At > base {
			base = r.At
		}
	}
	return base
}

func appendDifference(dst []byte, at, base edm.Ticks) []byte {
	if at <= message.FeedOldest {
		return append(dst, absolute, byte(at))
	}
	d, scale := at-base, byte(0)
	for d%10 == 0 && scale < absolute-1 {
		d, scale = d/10, scale+1
	}
	return binary.AppendVarint(append(dst, scale), int64(d))
}

// Read parses a position.
func Read(b []byte) (p Position, ok bool) {
	if len(b) == 0 || b[0] != form {
		return p, false
	}
	r := message.Read(b[1:])
	flags := r.Byte()
	p.Ended, p.Busy = flags&flagEnded != 0, flags&flagBusy != 0
	p.Layout = r.Layout()
	number := func() uint64 { return r.Number(1<<63 - 1) }
	p.Drop, p.From = edm.Ticks(number()), number()
	if flags&flagPart != 0 {
		p.Part, p.PartOf = r.Size(), p.object(number())
	}
	base, next := edm.Ticks(number()), uint64(0)
	p.Done = r.Objects()
	for r.OK() && !r.Done() {
		first := next + number()
		run := number()
		if run>>1 == 0 || run>>1 > mostRanges || uint64(len(p.Ranges))+run>>1 > mostRanges {
			return p, false
		}
		for i := range run >> 1 {
			at := base
			if run&1 != 0 {
				at = readDifference(&r, base)
			}
			p.Ranges = append(p.Ranges, message.FeedRange{Object: p.object(first + i), At: at})
		}
		next = first + run>>1
	}
	return p, r.Done() && flags <= flagEnded|flagBusy|flagPart && p.Layout.Buckets > 0 && (p.Part > 0) == (flags&flagPart != 0)
}

// mostRanges is the maximum number of ranges of a position that Read accepts.
const mostRanges = 10_000

func readDifference(r *message.Reader, base edm.Ticks) edm.Ticks {
	scale := r.Byte()
	if scale == absolute {
		return edm.Ticks(r.Byte())
	}
	z := r.Number(1<<64 - 1)
	d := edm.Ticks(z >> 1)
	if z&1 != 0 {
		d = ^d
	}
	for range min(scale, absolute) {
		d *= 10
	}
	return base + d
}
