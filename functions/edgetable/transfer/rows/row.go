package rows

import (
	"fmt"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// Row is an entity that was read from a file.
type Row struct {
	PartitionKey, RowKey string
	Properties           edm.Properties
	count                int
	Line                 int
}

// Bad is the error for a row that cannot become an entity. After this error, the reader can
// continue with the next row.
type Bad struct {
	Line   int
	Text   string // text that the row has in the file
	Reason string
}

func (b *Bad) Error() string { return fmt.Sprintf("line %d: %s", b.Line, b.Reason) }

// Reader reads the rows of a file. Next returns io.EOF at the end of the file, and a *Bad for a bad
// row. Any other error stops the import.
type Reader interface {
	Next() (Row, error)
}

// Add checks a property and adds the property to the row. column is the name of the property's
// column in the file, for the error.
func (r *Row) Add(name, column string, v edm.Value) error {
	if err := table.CheckValue(name, v); err != nil {
		return fmt.Errorf("%s: %w", column, err)
	}
	if r.count++; r.count > table.MaxProperties {
		return table.TooManyProperties.Err()
	}
	r.Properties = edm.AppendProperty(r.Properties, name, v)
	return nil
}

// Check returns an error if no service would store the row.
func (r *Row) Check() error {
	if err := key.Check(r.PartitionKey); err != nil {
		return fmt.Errorf("PartitionKey: %w", err)
	}
	if err := key.Check(r.RowKey); err != nil {
		return fmt.Errorf("RowKey: %w", err)
	}
	// The size of an entity is at most twice the bytes of its keys and properties, plus 16 for each
	// property. So the exact size need not be computed for small entities.
	if 2*(len(r.PartitionKey)+len(r.RowKey)+len(r.Properties))+16*table.MaxProperties > table.MaxEntitySize &&
		table.EntitySize(r.PartitionKey, r.RowKey, r.Properties) > table.MaxEntitySize {
		return table.EntityTooLarge.Err()
	}
	return nil
}
