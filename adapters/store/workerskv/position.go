package workerskv

import (
	"bytes"
	"encoding/binary"

	"edgetable/core/key"
)

// cursor says where a list of KV continues. An encoded position is: the last examined key · 01 · count · common · kv.
// It sorts after the examined key and before all later keys.
//
//   - count increases if several pages end after the same key, so that each page makes progress
//   - common is the number of bytes of the key in the prefix of the list
//   - kv is KV's cursor, which is valid only for this prefix
type cursor struct {
	count  uint16
	common int
	kv     string
}

// maxCursor is the maximum length in bytes of KV's cursor in a position.
const maxCursor = 1500

// position returns the encoded position after the key k at which a scan continues.
func (c cursor) position(k []byte) []byte {
	b := make([]byte, 0, len(k)+16+len(c.kv))
	b = append(append(b, k...), 1)
	if c.count == 0 && c.kv == "" {
		return b
	}
	if len(c.kv) > maxCursor {
		c.kv = ""
	}
	b = binary.BigEndian.AppendUint16(b, c.count)
	b = binary.AppendUvarint(b, uint64(c.common))
	return append(b, c.kv...)
}

// splitPosition splits an encoded position after the byte 01. A malformed cursor is ignored, because positions come
// from clients.
func splitPosition(position []byte) ([]byte, cursor) {
	i := bytes.IndexByte(position, 1)
	if i < 0 || i+1 == len(position) {
		return position, cursor{}
	}
	position, rest := position[:i+1:i+1], position[i+1:]
	if len(rest) < 2 {
		return position, cursor{}
	}
	count := binary.BigEndian.Uint16(rest)
	rest = rest[2:]
	common, n := binary.Uvarint(rest)
	if n <= 0 || common > maxKey || len(rest)-n > maxCursor {
		return position, cursor{}
	}
	return position, cursor{count, int(common), string(rest[n:])}
}

// prefixOf returns the common prefix of all keys in a range.
func prefixOf(r key.Range) []byte {
	if r.End == nil {
		return nil
	}
	if n := len(r.End) - 1; n >= 0 && r.End[n] == 1 && bytes.HasPrefix(r.Start, r.End[:n]) {
		// The range ends directly after a key or a partition. If base is a PartitionKey, the next byte of all keys in
		// the range is 00.
		base := r.End[:n:n]
		if bytes.IndexByte(base, 0) < 0 && (len(r.Start) == n || r.Start[n] == 0) {
			return append(base, 0)
		}
	}
	n := 0
	for n < min(len(r.Start), len(r.End)) && r.Start[n] == r.End[n] && r.Start[n] != 1 {
		n++
	}
	return r.Start[:cutLength(r.Start, n)]
}

// pointOf returns the only key that a range can contain. ok is false if the range can contain more keys.
func pointOf(r key.Range) ([]byte, bool) {
	n := len(r.End) - 1
	ok := n >= 0 && r.End[n] == 1 && bytes.Equal(r.Start, r.End[:n]) && bytes.IndexByte(r.Start, 0) >= 0
	return r.Start, ok
}
