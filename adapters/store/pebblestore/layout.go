package pebblestore

import (
	"edgetable/core/table"
)

// The first byte of every key says what the other bytes are:
const (
	spaceMeta     = 0x00 // data of the store itself
	spaceRecords  = 0x01 // text of the RecordKey
	spaceEntities = 0x02 // incarnation, then the encoded key of the entity
	// 0x03 begins the keys of change feeds: see package feedlog
)

var (
	formatKey = []byte{spaceMeta, 'f', 'o', 'r', 'm', 'a', 't'} // key of the format version, 4 bytes
	clockKey  = []byte{spaceMeta, 'c', 'l', 'o', 'c', 'k'}      // key of the highest reserved Timestamp, 8 bytes
)

// formatVersion is the version of the layout of the data directory. Open accepts directories of this version and of
// earlier versions, and upgrades earlier versions to this version.
//
//	1 the first version
//	2 adds a second copy of the records: a program that does not maintain this copy must not write to the store
const formatVersion = 2

// prefixLength is the number of bytes before the encoded key of an entity.
const prefixLength = 1 + len(table.Incarnation{})

// appendPrefix appends the common prefix of the keys of all entities of an incarnation.
func appendPrefix(dst []byte, i table.Incarnation) []byte {
	dst = append(dst, spaceEntities)
	return append(dst, i[:]...)
}

// prefixEnd returns the smallest key above all keys that begin with prefix. There is such a key, because no key of
// the store begins with 0xFF.
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
