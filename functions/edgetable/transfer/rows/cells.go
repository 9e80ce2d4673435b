package rows

import "edgetable/core/edm"

// Cells provides the values of a row by column name.
type Cells interface {
	// Cell returns the value of a column, or null if the row does not have the column.
	Cell(name string) (edm.Value, error)
}
