package workerskv

import (
	"bytes"
	"encoding/binary"

	"edgetable/core/key"
)

// A page ends at a position that brings the cursors of KV along: behind the last
// key that was examined comes 01, which sorts behind the key itself and before
// every other, then a counter, so that positions with the same key advance, how
// much of the key was the prefix that was listed, for which alone cursors are good,
// and the cursors. Package key writes 01 only at the end of a position.
type cursors struct {
	count             uint16
	common            int
	entities, journal string
}

// maxCursor is the longest cursor that is brought along.
const maxCursor = 1500

// position is where a scan goes on behind k.
func (c cursors) position(k []byte) []byte {
	b := make([]byte, 0, len(k)+16+len(c.entities)+len(c.journal))
	b = append(append(b, k...), 1)
	if c.count == 0 && c.entities == "" && c.journal == "" {
		return b
	}
	b = binary.BigEndian.AppendUint16(b, c.count)
	b = binary.AppendUvarint(b, uint64(c.common))
	for _, one := range [...]string{c.entities, c.journal} {
		if len(one) > maxCursor {
			one = ""
		}
		b = binary.AppendUvarint(b, uint64(len(one)))
		b = append(b, one...)
	}
	return b
}

// splitPosition takes the cursors off a position, if it has any. Tokens come from
// clients: cursors that are no cursors are none.
func splitPosition(position []byte) ([]byte, cursors) {
	i := bytes.IndexByte(position, 1)
	if i < 0 || i+1 == len(position) {
		return position, cursors{}
	}
	var c cursors
	position, rest := position[:i+1:i+1], position[i+1:]
	if len(rest) < 2 {
		return position, c
	}
	count := binary.BigEndian.Uint16(rest)
	rest = rest[2:]
	common, n := binary.Uvarint(rest)
	if n <= 0 || common > MaxKey {
		return position, c
	}
	entities, rest, ok := field(rest[n:])
	journal, rest, ok2 := field(rest)
	if !ok || !ok2 || len(rest) > 0 {
		return position, c
	}
	return position, cursors{count, int(common), string(entities), string(journal)}
}

// prefixOf is what all keys of a range begin with.
func prefixOf(r key.Range) []byte {
	if r.End == nil {
		return nil
	}
	if n := len(r.End) - 1; n >= 0 && r.End[n] == 1 && bytes.HasPrefix(r.Start, r.End[:n]) {
		// Up to behind a key or a partition: between it and 01 there is only what
		// goes on with 00, and that is the partition.
		base := r.End[:n:n]
		if bytes.IndexByte(base, 0) < 0 && (len(r.Start) == n || r.Start[n] == 0) {
			return append(base, 0)
		}
	}
	n := 0
	for n < min(len(r.Start), len(r.End)) && r.Start[n] == r.End[n] && r.Start[n] != 1 {
		n++
	}
	return r.Start[:cut(r.Start, n)]
}

// pointOf is the only key that a range can have, if that is so.
func pointOf(r key.Range) ([]byte, bool) {
	n := len(r.End) - 1
	ok := n >= 0 && r.End[n] == 1 && bytes.Equal(r.Start, r.End[:n]) && bytes.IndexByte(r.Start, 0) >= 0
	return r.Start, ok
}
