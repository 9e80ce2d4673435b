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
	count                int // of those that add added
	Line                 int
}

// Bad is a row that cannot be an entity. The rows after it can be read.
type Bad struct {
	Line   int
	Text   string // of the file
	Reason string
}

func (b *Bad) Error() string { return fmt.Sprintf("line %d: %s", b.Line, b.Reason) }

// Reader reads the rows of a file. The error is io.EOF at the end, a *Bad, or
// what ends the work.
type Reader interface {
	Next() (Row, error)
}

// Add adds a property, the value of a column of a table that need not be an entity.
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

// Check returns why no service would store the row.
func (r *Row) Check() error {
	if err := key.Check(r.PartitionKey); err != nil {
		return fmt.Errorf("PartitionKey: %w", err)
	}
	if err := key.Check(r.RowKey); err != nil {
		return fmt.Errorf("RowKey: %w", err)
	}
	// A byte counts at most 2, a property 16 more: small entities need no exact sum.
	if 2*(len(r.PartitionKey)+len(r.RowKey)+len(r.Properties))+16*table.MaxProperties > table.MaxEntitySize &&
		table.EntitySize(r.PartitionKey, r.RowKey, r.Properties) > table.MaxEntitySize {
		return table.EntityTooLarge.Err()
	}
	return nil
}
