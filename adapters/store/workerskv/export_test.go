package workerskv

import (
	"edgetable/core/table"
)

// The codecs of names, cells and positions, for fuzzing.

func NameOf(k []byte) string { return nameOf(spaceEntities, k) }

func KeyOf(name string) []byte { return keyOf(spaceEntities, name) }

func MarkOf(k []byte) string { return markOf(spaceEntities, k) }

func MarkedBy(name string) []byte { return markedBy(spaceEntities, name) }

func Cell(body []byte) (value, metadata []byte) { return encodeCell(body) }

func ReadCell(value, metadata []byte) ([]byte, error) { return decodeCell(value, metadata) }

// ReadPosition splits a position and joins it again.
func ReadPosition(position []byte) (again []byte, kv string) {
	k, c := splitPosition(position)
	if n := len(k); c != (cursor{}) {
		k = c.position(k[:n-1])
	}
	return k, c.kv
}

// WritePosition is a position behind a key.
func WritePosition(k []byte, kv string) []byte { return cursor{kv: kv}.position(k) }

// EntityName is the name of an entity in an incarnation that begins with one byte.
func EntityName(incarnation byte, k []byte) string {
	return nameOf(entityPrefix(table.Incarnation{incarnation}), k)
}
