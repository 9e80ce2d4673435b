package ranges

import (
	"cmp"
	"strings"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
)

// Key is the PartitionKey and the RowKey of an entity.
type Key struct {
	Partition string `json:"pk"`
	Row       string `json:"rk,omitempty"`
}

// Compare compares two keys in the order in which a table sorts keys.
func (k Key) Compare(other Key) int {
	return cmp.Or(key.Compare(k.Partition, other.Partition), key.Compare(k.Row, other.Row))
}

// Clone returns a copy of the key that shares no memory with the key.
func (k Key) Clone() Key { return Key{strings.Clone(k.Partition), strings.Clone(k.Row)} }

// Range is a part of a table. It begins at the key From, or just after From if After is set. It
// ends before the key To. If To is zero, the range has no upper bound.
type Range struct {
	From  Key  `json:"from,omitzero"`
	After bool `json:"after,omitempty"` // the range does not contain the key From
	To    Key  `json:"to,omitzero"`
	High  Key  `json:"high,omitzero"` // when the range was made, all its keys were below High; zero if no such key is known
}

// Filters returns at most three filters, which together select the range in key order. The filters
// do not use "or", because the service reads the whole table for a filter with "or".
func (r Range) Filters() (list []string) {
	from, to := r.From, r.To
	bounded := to != Key{}
	above := " ge " // operator for the PartitionKey
	if from.Row != "" || r.After || bounded && from.Partition == to.Partition {
		filter := "PartitionKey eq " + Quote(from.Partition)
		switch {
		case r.After:
			filter += " and RowKey gt " + Quote(from.Row)
		case from.Row != "":
			filter += " and RowKey ge " + Quote(from.Row)
		}
		if bounded && from.Partition == to.Partition {
			return []string{filter + " and RowKey lt " + Quote(to.Row)}
		}
		list, above = append(list, filter), " gt "
	}
	var between []string
	if from.Partition != "" || above == " gt " {
		between = append(between, "PartitionKey"+above+Quote(from.Partition))
	}
	if bounded {
		between = append(between, "PartitionKey lt "+Quote(to.Partition))
	}
	list = append(list, strings.Join(between, " and "))
	if to.Row != "" {
		list = append(list, "PartitionKey eq "+Quote(to.Partition)+" and RowKey lt "+Quote(to.Row))
	}
	return list
}

// Behind returns the part of the range after the key k.
func (r Range) Behind(k Key) Range {
	r.From, r.After = k, true
	return r
}

// End returns a key that is at or above all keys of the range. It returns a zero Key if it knows no
// such key.
func (r *Range) End() Key {
	if (r.To != Key{}) {
		return r.To
	}
	return r.High
}

// And combines filters with "and". Empty filters are ignored.
func And(filters ...string) string {
	var parts []string
	for _, f := range filters {
		if f != "" {
			parts = append(parts, f)
		}
	}
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return "(" + strings.Join(parts, ") and (") + ")"
}

// Quote returns a key as a string literal for a filter.
func Quote(s string) string { return odata.Literal(edm.String(s)) }
