package workerskv

import "edgetable/core/table"

// EntityName returns the name of the entity with key k. The first byte of its incarnation is given; the other
// bytes are 0.
func EntityName(incarnation byte, k []byte) string {
	return nameOf(entityPrefix(table.Incarnation{incarnation}), k)
}
