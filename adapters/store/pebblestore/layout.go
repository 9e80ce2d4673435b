package pebblestore

import (
	"edgetable/core/table"
)

// The first byte of every key is its space.
const (
	spaceMeta     = 0x00 // data of the store itself
	spaceRecords  = 0x01 // · text of the RecordKey
	spaceEntities = 0x02 // · incarnation · encoded key of the entity
	// 0x03 are feeds: see package feedlog
)

var (
	formatKey = []byte{spaceMeta, 'f', 'o', 'r', 'm', 'a', 't'} // format version, 4 bytes
	clockKey  = []byte{spaceMeta, 'c', 'l', 'o', 'c', 'k'}      // reservation of the clock, 8 bytes
)

// formatVersion is the version of this layout. A store opens directories of this version and of earlier versions that
// it can read, and upgrades them to this version.
//
//	1 the first version
//	2 with a second copy of the records: a build that does not maintain this copy must not write to the store
const formatVersion = 2

// prefixLength is the number of bytes before the encoded key of an entity.
const prefixLength = 1 + len(table.Incarnation{})

// appendPrefix appends the common prefix of all keys of an incarnation.
func appendPrefix(dst []byte, i table.Incarnation) []byte {
	dst = append(dst, spaceEntities)
	return append(dst, i[:]...)
}

// prefixEnd returns the position after all keys that begin with prefix. It
// exists, because no key here begins with 0xFF.
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
