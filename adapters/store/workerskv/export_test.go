package workerskv

import "edgetable/core/table"

// EntityName returns the name of the entity with key k in an incarnation whose first byte is given, and the others 0.
func EntityName(incarnation byte, k []byte) string {
	return nameOf(entityPrefix(table.Incarnation{incarnation}), k)
}
