package feedlog

import (
	"encoding/binary"

	"edgetable/core/edm"
)

// Position is a position in a change feed. The client has read all commits up to Number. If Part is not 0, the client
// has read only the first Part changes of the last commit.
type Position struct {
	Number edm.Ticks
	Part   int
	// Seen is the highest number of a commit that may have affected earlier pages. A store without this commit cannot
	// continue the feed. In positions from earlier versions, Seen is 0.
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

// In encodes the position after the first part changes of the commit Number. If part is 0, the position is after the
// whole commit.
func (p Position) In(part int) []byte {
	p.Part = part
	return p.Bytes()
}

// Before returns the number up to which the client has read all commits completely. The next page begins after this
// number.
func (p Position) Before() edm.Ticks {
	if p.Part != 0 {
		return p.Number - 1
	}
	return p.Number
}

// Latest returns the highest commit number that a store must have to continue at the position.
func (p Position) Latest() edm.Ticks { return max(p.Number, p.Seen) }
