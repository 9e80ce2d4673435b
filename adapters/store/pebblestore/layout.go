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
	spaceMeta     = 0x00 // what the store keeps for itself
	spaceRecords  = 0x01 // · text of the RecordKey
	spaceEntities = 0x02 // · incarnation · encoded key of the entity
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

func recordKey(key string) []byte {
	return append(append(make([]byte, 0, 1+len(key)), spaceRecords), key...)
}

// recordHead is the fixed part of a stored record: the Timestamp of the commit
// that wrote it, the incarnation, and 4 bytes that are zero.
const recordHead = 8 + len(table.Incarnation{}) + 4

var errRecord = errors.New("stored record is damaged")

// appendRecord appends the stored form of a record, in which its revision is the
// Timestamp of the commit that wrote it.
func appendRecord(dst []byte, r table.Record, written edm.Ticks) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(written))
	dst = append(dst, r.Incarnation[:]...)
	dst = append(dst, 0, 0, 0, 0)
	return append(dst, r.Value...)
}

// parseRecord is the inverse of appendRecord. It shares no memory with value.
func parseRecord(key table.RecordKey, value []byte) (table.Record, error) {
	if len(value) < recordHead || [4]byte(value[recordHead-4:]) != [4]byte{} {
		return table.Record{}, errRecord
	}
	r := table.Record{Key: key, Revision: revision(edm.Ticks(binary.BigEndian.Uint64(value)))}
	copy(r.Incarnation[:], value[8:])
	r.Value = append([]byte(nil), value[recordHead:]...)
	return r, nil
}

func revision(written edm.Ticks) table.Revision {
	return table.Revision(strconv.FormatInt(int64(written), 36))
}
