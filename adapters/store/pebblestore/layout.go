package pebblestore

import (
	"encoding/binary"
	"errors"
	"strconv"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// The first byte of every key says what it is.
const (
	spaceMeta      = 0x00 // what the store keeps for itself
	spaceDocuments = 0x01 // · document key
	spaceEntities  = 0x02 // · incarnation · encoded key of the entity
)

var (
	formatKey = []byte{spaceMeta, 'f', 'o', 'r', 'm', 'a', 't'} // format version, 4 bytes
	clockKey  = []byte{spaceMeta, 'c', 'l', 'o', 'c', 'k'}      // reservation of the clock, 8 bytes
)

// formatVersion is the version of this layout. A store opens a directory of its
// own version and of those below that it knows how to read.
const formatVersion = 1

// prefixLength is what stands before the encoded key of an entity.
const prefixLength = 1 + len(table.Incarnation{})

// appendPrefix appends what all keys of an incarnation begin with.
func appendPrefix(dst []byte, i table.Incarnation) []byte {
	dst = append(dst, spaceEntities)
	return append(dst, i[:]...)
}

// prefixEnd is the position behind all keys that begin with prefix. No key here
// begins with 0xFF, so there is one.
func prefixEnd(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

func documentKey(key string) []byte {
	return append(append(make([]byte, 0, 1+len(key)), spaceDocuments), key...)
}

// documentHead is the fixed part of a stored document: Timestamp of the commit
// that wrote it, incarnation, buckets, length of the location.
const documentHead = 8 + len(table.Incarnation{}) + 2 + 2

var errDocument = errors.New("stored document is damaged")

// appendDocument appends the stored form of a document, in which its revision
// is the Timestamp of the commit that wrote it.
func appendDocument(dst []byte, d table.Document, written edm.Ticks) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(written))
	dst = append(dst, d.Layout.Incarnation[:]...)
	dst = binary.BigEndian.AppendUint16(dst, d.Layout.Buckets)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(d.Layout.Location)))
	dst = append(dst, d.Layout.Location...)
	return append(dst, d.Value...)
}

// parseDocument is the inverse of appendDocument. It shares no memory with value.
func parseDocument(key string, value []byte) (table.Document, error) {
	if len(value) < documentHead {
		return table.Document{}, errDocument
	}
	d := table.Document{Key: key, Revision: revision(edm.Ticks(binary.BigEndian.Uint64(value)))}
	value = value[8:]
	value = value[copy(d.Layout.Incarnation[:], value):]
	d.Layout.Buckets = binary.BigEndian.Uint16(value)
	n := int(binary.BigEndian.Uint16(value[2:]))
	value = value[4:]
	if n > len(value) {
		return table.Document{}, errDocument
	}
	d.Layout.Location = string(value[:n])
	d.Value = append([]byte(nil), value[n:]...)
	return d, nil
}

func revision(written edm.Ticks) table.Revision {
	return table.Revision(strconv.FormatInt(int64(written), 36))
}
