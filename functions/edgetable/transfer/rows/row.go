package rows

import (
	"fmt"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// Row is an entity read from a file.
type Row struct {
	PartitionKey, RowKey string
	Properties           edm.Properties
	count                int
	Line                 int
}

// Bad is the error for a row that cannot be converted to an entity. The reader can continue with the next row.
type Bad struct {
	Line   int
	Text   string // original text of the row
	Reason string
}

func (b *Bad) Error() string { return fmt.Sprintf("line %d: %s", b.Line, b.Reason) }

// Reader reads the rows of a file. Next returns io.EOF at the end of the file and *Bad for a bad row. Any other error
// is fatal for the import.
type Reader interface {
	Next() (Row, error)
}

// Add validates a property and adds it to the row. Its error contains the given name of the file's column.
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

// Check returns an error if no service would accept the row.
func (r *Row) Check() error {
	if err := key.Check(r.PartitionKey); err != nil {
		return fmt.Errorf("PartitionKey: %w", err)
	}
	if err := key.Check(r.RowKey); err != nil {
		return fmt.Errorf("RowKey: %w", err)
	}
	// An entity's size is at most twice the bytes of its keys and properties plus 16 for each property. So small
	// entities do not need the exact computation.
	if 2*(len(r.PartitionKey)+len(r.RowKey)+len(r.Properties))+16*table.MaxProperties > table.MaxEntitySize &&
		table.EntitySize(r.PartitionKey, r.RowKey, r.Properties) > table.MaxEntitySize {
		return table.EntityTooLarge.Err()
	}
	return nil
}
