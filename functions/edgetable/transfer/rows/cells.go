package rows

import "edgetable/core/edm"

// Cells returns the values of a row by the names of their columns.
type Cells interface {
	// Cell returns the value of a column, or null if the row does not have that column.
	Cell(name string) (edm.Value, error)
}
