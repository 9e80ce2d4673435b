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

// Compare compares keys in table order.
func (k Key) Compare(other Key) int {
	return cmp.Or(key.Compare(k.Partition, other.Partition), key.Compare(k.Row, other.Row))
}

// Clone returns a copy of k that shares no memory with k.
func (k Key) Clone() Key { return Key{strings.Clone(k.Partition), strings.Clone(k.Row)} }

// Range is a part of a table, from the key From to the key To, which is excluded. If To is zero, the range has no upper
// bound.
type Range struct {
	From  Key  `json:"from,omitzero"`
	After bool `json:"after,omitempty"` // if true, the range does not contain From
	To    Key  `json:"to,omitzero"`
	High  Key  `json:"high,omitzero"` // upper bound of the keys when the range was created, or zero; keys that were added later may be above it
}

// Filters returns up to three filters that select the range in key order, one after the other. They do not contain
// "or", because the service would then scan the whole table.
func (r Range) Filters() (list []string) {
	from, to := r.From, r.To
	bounded := to != Key{}
	above := " ge " // operator that compares the PartitionKey
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

// Behind returns the part of the range after k.
func (r Range) Behind(k Key) Range {
	r.From, r.After = k, true
	return r
}

// End returns an upper bound of the keys in the range, or a zero Key if none is known.
func (r *Range) End() Key {
	if (r.To != Key{}) {
		return r.To
	}
	return r.High
}

// And joins the filters that are not empty with "and".
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

// Quote returns a key as a string literal of the filter language.
func Quote(s string) string { return odata.Literal(edm.String(s)) }
