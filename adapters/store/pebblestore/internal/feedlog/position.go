package feedlog

import (
	"encoding/binary"

	"edgetable/core/edm"
)

// Position is a position in a change feed. Its client has read the commits up to Number. If Part is not 0, the client has
// read only this number of changes of the commit Number.
type Position struct {
	Number edm.Ticks
	Part   int
	// Seen is the highest number of a commit that may have had an effect on a page before this position. For example, a
	// page lacks the content of an entity that a later commit has changed. A store that lacks the later commit never
	// returns this content. Seen is 0 in a position of an earlier version.
	Seen edm.Ticks
}

// ParsePosition is the inverse of Bytes.
func ParsePosition(b []byte) (p Position, ok bool) {
	switch len(b) {
	case 10, 18:
		p.Part = int(binary.BigEndian.Uint16(b[len(b)-2:]))
	case 8, 16:
	default:
		return p, false
	}
	p.Number = edm.Ticks(binary.BigEndian.Uint64(b))
	if len(b) >= 16 {
		p.Seen = edm.Ticks(binary.BigEndian.Uint64(b[8:]))
	}
	return p, true
}

// Bytes encodes a position.
func (p Position) Bytes() []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 18), uint64(p.Number))
	if p.Seen > p.Number {
		b = binary.BigEndian.AppendUint64(b, uint64(p.Seen))
	}
	if p.Part != 0 {
		b = binary.BigEndian.AppendUint16(b, uint16(p.Part))
	}
	return b
}

// In encodes the position after some changes of the commit Number, or after the commit if part is 0.
func (p Position) In(part int) []byte {
	p.Part = part
	return p.Bytes()
}

// Before returns the number after which a page begins. It begins with the commit Number if the client has read only a
// part of this commit.
func (p Position) Before() edm.Ticks {
	if p.Part != 0 {
		return p.Number - 1
	}
	return p.Number
}

// Latest returns the number of the last commit that a store needs so that the client of the position misses nothing.
func (p Position) Latest() edm.Ticks { return max(p.Number, p.Seen) }
