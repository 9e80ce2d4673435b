package workerskv

import "edgetable/core/table"

// EntityName is the name of an entity in an incarnation that begins with one byte.
func EntityName(incarnation byte, k []byte) string {
	return nameOf(entityPrefix(table.Incarnation{incarnation}), k)
}
