package table

import (
	"encoding/binary"
	"errors"

	"edgetable/core/edm"
)

// Row is one entity as a store holds it.
type Row struct {
	Key        []byte // encoded key
	Timestamp  edm.Ticks
	Nonce      uint64 // the nonce of the mutation that wrote the entity
	Properties edm.Properties
}

// rowHead is the length of the Timestamp and the nonce in an encoded row, 8 bytes each.
const rowHead = 16

// ticksBits is the number of bits of the largest Timestamp, the end of the year 9999. The two bits above are zero and
// reserved for later versions.
const ticksBits = 62

var (
	errRow = errors.New("stored entity is damaged")
	// ErrNewerForm means that an entity or record is stored in a form that this version does not support.
	ErrNewerForm = errors.New("stored in a format of a newer edgetable version; run that version")
)

// AppendRow appends the stored form of a row without its key, for stores that hold rows as bytes: the Timestamp and the
// nonce, both big-endian, and the properties.
func AppendRow(dst []byte, r *Row) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(r.Timestamp))
	dst = binary.BigEndian.AppendUint64(dst, r.Nonce)
	return append(dst, r.Properties...)
}

// ParseRow is the inverse of [AppendRow]. The row shares memory with key and value.
func ParseRow(key, value []byte) (Row, error) {
	if len(value) < rowHead {
		return Row{}, errRow
	}
	ticks := binary.BigEndian.Uint64(value)
	if ticks>>ticksBits != 0 {
		return Row{}, ErrNewerForm
	}
	return Row{
		Key:        key,
		Timestamp:  edm.Ticks(ticks),
		Nonce:      binary.BigEndian.Uint64(value[8:]),
		Properties: edm.Properties(value[rowHead:]),
	}, nil
}
