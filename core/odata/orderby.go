package odata

import (
	"errors"
	"strings"
)

// Order is the order of a query: ascending or descending by key.
type Order struct {
	Descending bool
	// Rows means that the order is by RowKey only. The query must then read a single partition.
	Rows bool
}

// ErrOrder means that the store does not support the requested order. The protocol returns it as OrderNotAvailable
// (400).
var ErrOrder = errors.New("The store does not support this order.") //lint:ignore ST1005 as the others

// ParseOrder parses a $orderby:
//
//	order = "PartitionKey" [way] "," "RowKey" [way] | "RowKey" [way]
//	way   = "asc" | "desc"
//
// Both properties must have the same direction. The error is [ErrOrder].
func ParseOrder(text string) (Order, error) {
	partition, row, both := strings.Cut(text, ",")
	if !both {
		down, ok := orderedBy(text, "RowKey")
		if !ok {
			return Order{}, ErrOrder
		}
		return Order{Descending: down, Rows: true}, nil
	}
	first, ok := orderedBy(partition, "PartitionKey")
	second, ok2 := orderedBy(row, "RowKey")
	if !ok || !ok2 || first != second {
		return Order{}, ErrOrder
	}
	return Order{Descending: first}, nil
}

// orderedBy parses an order by the property with the given name, such as "RowKey desc". ok is false if the text is not
// an order by this property.
func orderedBy(text, name string) (down, ok bool) {
	words := strings.FieldsFunc(text, isBlankRune)
	if len(words) == 0 || len(words) > 2 || words[0] != name {
		return false, false
	}
	return len(words) == 2 && words[1] == "desc", len(words) == 1 || words[1] == "asc" || words[1] == "desc"
}

// String returns the order in the syntax of $orderby.
func (o Order) String() string {
	way := ""
	if o.Descending {
		way = " desc"
	}
	if o.Rows {
		return "RowKey" + way
	}
	return "PartitionKey" + way + ", RowKey" + way
}

// OnePartition reports whether the plan reads a single partition.
func (p *Plan) OnePartition() bool {
	for i, r := range p.Ranges {
		partition, one := r.Partition()
		if first, _ := p.Ranges[0].Partition(); !one || i > 0 && string(partition) != string(first) {
			return false
		}
	}
	return true
}
