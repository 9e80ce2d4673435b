package table

import (
	"encoding/binary"
	"errors"

	"edgetable/core/edm"
)

// rowHead is the Timestamp and the nonce of an encoded row, 8 bytes each.
const rowHead = 16

var errRow = errors.New("stored entity is damaged")

// AppendRow appends the stored form of a row without its key: Timestamp and
// nonce, big-endian, and the properties. Stores that keep rows as bytes use it.
func AppendRow(dst []byte, r *Row) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(r.Timestamp))
	dst = binary.BigEndian.AppendUint64(dst, r.Nonce)
	return append(dst, r.Properties...)
}

// ParseRow is the inverse of [AppendRow]. The row shares the memory of both
// arguments.
func ParseRow(key, value []byte) (Row, error) {
	if len(value) < rowHead {
		return Row{}, errRow
	}
	return Row{
		Key:        key,
		Timestamp:  edm.Ticks(binary.BigEndian.Uint64(value)),
		Nonce:      binary.BigEndian.Uint64(value[8:]),
		Properties: edm.Properties(value[rowHead:]),
	}, nil
}
