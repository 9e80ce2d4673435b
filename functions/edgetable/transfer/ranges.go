package transfer

import "strings"

// Range is a part of a table: the partitions from From, or after After, up to
// and without To; or such rows of one partition. Empty bounds are none.
type Range struct {
	Partition string `json:"partition,omitempty"`
	Rows      bool   `json:"rows,omitempty"` // the bounds are RowKeys in Partition
	From      string `json:"from,omitempty"`
	After     string `json:"after,omitempty"`
	To        string `json:"to,omitempty"`
}

// Filter returns the range as a filter, "" for a whole table. It has no or, with
// which the service would read the whole table.
func (r Range) Filter() string {
	var parts []string
	name := "PartitionKey"
	if r.Rows {
		parts = append(parts, "PartitionKey eq "+Quote(r.Partition))
		name = "RowKey"
	}
	for _, bound := range []struct{ op, value string }{{" ge ", r.From}, {" gt ", r.After}, {" lt ", r.To}} {
		if bound.value != "" {
			parts = append(parts, name+bound.op+Quote(bound.value))
		}
	}
	return strings.Join(parts, " and ")
}

// Behind returns the parts of the range behind an entity in it.
func (r Range) Behind(partition, row string) []Range {
	if r.Rows {
		return []Range{r.after(row)}
	}
	rest := Range{Partition: partition, Rows: true}
	return []Range{rest.after(row), Range{To: r.To}.after(partition)}
}

// after returns the part of the range behind a key.
func (r Range) after(bound string) Range {
	r.From, r.After = "", bound
	if bound == "" { // an empty bound would be none; a blank is the least character of a key
		r.From = " "
	}
	return r
}

// And joins filters. Each of them may be empty.
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

// Quote returns a key as a literal of a filter.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
