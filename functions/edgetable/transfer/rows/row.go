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
	count                int // number of properties that Add has added
	Line                 int
}

// Bad is a row that cannot be an entity. The rows after it can be read.
type Bad struct {
	Line   int
	Text   string // text of the row in the file
	Reason string
}

func (b *Bad) Error() string { return fmt.Sprintf("line %d: %s", b.Line, b.Reason) }

// Reader reads the rows of a file. Its error is io.EOF at the end, a *Bad for a bad
// row, or any other error that ends the work.
type Reader interface {
	Next() (Row, error)
}

// Add adds a property. Its value comes from a column of a table that need not have
// entities.
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
	// A byte counts at most 2 and a property 16 more, so small entities need no exact
	// sum.
	if 2*(len(r.PartitionKey)+len(r.RowKey)+len(r.Properties))+16*table.MaxProperties > table.MaxEntitySize &&
		table.EntitySize(r.PartitionKey, r.RowKey, r.Properties) > table.MaxEntitySize {
		return table.EntityTooLarge.Err()
	}
	return nil
}
