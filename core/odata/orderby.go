package odata

import (
	"errors"
	"strings"
)

// Order is the order of a query: that of the keys, or the opposite one.
type Order struct {
	Descending bool
	// Rows: the order is that of RowKey alone, in a query of one partition.
	Rows bool
}

// ErrOrder means that an order is not that of the keys. It is OrderNotAvailable (400).
var ErrOrder = errors.New("The entities are not kept in this order.") //lint:ignore ST1005 as the others

// ParseOrder reads a $orderby:
//
//	order = "PartitionKey" [way] "," "RowKey" [way] | "RowKey" [way]
//	way   = "asc" | "desc"
//
// Both ways are the same. The error is [ErrOrder].
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

// orderedBy reads the order by one name.
func orderedBy(text, name string) (down, ok bool) {
	words := strings.FieldsFunc(text, isBlankRune)
	if len(words) == 0 || len(words) > 2 || words[0] != name {
		return false, false
	}
	return len(words) == 2 && words[1] == "desc", len(words) == 1 || words[1] == "asc" || words[1] == "desc"
}

// String returns the order as a $orderby.
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

// OnePartition reports whether all entities of a plan are in one partition.
func (p *Plan) OnePartition() bool {
	for i, r := range p.Ranges {
		partition, one := r.Partition()
		if first, _ := p.Ranges[0].Partition(); !one || i > 0 && string(partition) != string(first) {
			return false
		}
	}
	return true
}
