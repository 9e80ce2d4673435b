// Package layout defines where a store keeps its data. A change of a key needs a new Version.
package layout

import (
	"strings"

	"edgetable/core/table"
)

// The first byte of every key says what the other bytes are:
const (
	Meta     = 0x00 // data of the store itself, see MetaKey
	Records  = 0x01 // text of the RecordKey
	Entities = 0x02 // incarnation, then the encoded key of the entity
	// 0x03 begins the keys of change feeds: see package feedlog
)

var (
	FormatKey   = MetaKey("format")   // format version, 4 bytes
	ClockKey    = MetaKey("clock")    // highest reserved Timestamp, 8 bytes
	IdentityKey = MetaKey("identity") // identity of the store: 16 random bytes, made when the store is first opened
)

// MetaKey returns the key of data of the store itself.
func MetaKey(name string) []byte { return append([]byte{Meta}, name...) }

// RecordKey returns the key of a table record. The parameter text is the table.RecordKey as a string.
func RecordKey(text string) []byte {
	return append(append(make([]byte, 0, 1+len(text)), Records), text...)
}

// PrefixLength is the number of bytes before the encoded key of an entity.
const PrefixLength = 1 + len(table.Incarnation{})

// AppendPrefix appends the prefix that the keys of all entities of an incarnation share.
func AppendPrefix(dst []byte, i table.Incarnation) []byte {
	dst = append(dst, Entities)
	return append(dst, i[:]...)
}

// End returns the smallest key above all keys that begin with prefix. There is such a key, because no key of
// the store begins with 0xFF.
func End(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

// IsStore reports whether a file of this name shows that its directory contains a store. An interrupted first start may
// also leave such a file.
func IsStore(file string) bool {
	return strings.HasPrefix(file, "marker.") || file == "MANIFEST-000001"
}
