package rows

import (
	"slices"
	"strings"
)

// These are the names of the system properties.
const (
	PartitionKey = "PartitionKey"
	RowKey       = "RowKey"
	Timestamp    = "Timestamp"
)

// WithKeys adds the keys to a selection of properties. An empty selection selects all properties,
// so WithKeys returns it unchanged.
func WithKeys(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	all := []string{PartitionKey, RowKey}
	for _, name := range names {
		if name = strings.TrimSpace(name); !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}
