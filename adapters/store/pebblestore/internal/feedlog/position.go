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
}

// ParsePosition is the inverse of Bytes.
func ParsePosition(b []byte) (p Position, ok bool) {
	switch len(b) {
	case 10:
		p.Part = int(binary.BigEndian.Uint16(b[8:]))
	case 8:
	default:
		return p, false
	}
	p.Number = edm.Ticks(binary.BigEndian.Uint64(b))
	return p, true
}

// Bytes encodes a position.
func (p Position) Bytes() []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 10), uint64(p.Number))
	if p.Part != 0 {
		b = binary.BigEndian.AppendUint16(b, uint16(p.Part))
	}
	return b
}

// In encodes the position after some changes of the commit Number, or after the commit if part is 0.
func (p Position) In(part int) []byte { return Position{p.Number, part}.Bytes() }

// Before returns the number after which a page begins. It begins with the commit Number if the client has read only a
// part of this commit.
func (p Position) Before() edm.Ticks {
	if p.Part != 0 {
		return p.Number - 1
	}
	return p.Number
}
