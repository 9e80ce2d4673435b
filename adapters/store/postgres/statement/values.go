package statement

import "encoding/binary"

// Formats is the format code for binary. One code applies to all parameters and results.
var Formats = []int16{1}

// Int8 encodes an int8.
func Int8(n int64) []byte { return binary.BigEndian.AppendUint64(make([]byte, 0, 8), uint64(n)) }

// Int2 encodes an int2.
func Int2(n int16) []byte { return binary.BigEndian.AppendUint16(make([]byte, 0, 2), uint16(n)) }

// Int4 encodes an int4.
func Int4(n uint32) []byte { return binary.BigEndian.AppendUint32(make([]byte, 0, 4), n) }

// Bytes returns b as an argument that is not NULL, even if b is nil.
func Bytes(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Number decodes an int8.
func Number(b []byte) int64 {
	if len(b) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b))
}

// PostgreSQL OIDs of the element types of arrays.
const (
	OIDBytes = 17
	OIDInt8  = 20
	OIDText  = 25
)

// Array encodes a one-dimensional array without NULLs.
func Array(oid uint32, elements [][]byte) []byte {
	n := 20
	for _, e := range elements {
		n += 4 + len(e)
	}
	b := make([]byte, 0, n)
	dimensions := uint32(1)
	if len(elements) == 0 {
		dimensions = 0
	}
	b = binary.BigEndian.AppendUint32(b, dimensions)
	b = binary.BigEndian.AppendUint32(b, 0)
	b = binary.BigEndian.AppendUint32(b, oid)
	if dimensions == 0 {
		return b
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(elements)))
	b = binary.BigEndian.AppendUint32(b, 1)
	for _, e := range elements {
		b = binary.BigEndian.AppendUint32(b, uint32(len(e)))
		b = append(b, e...)
	}
	return b
}
