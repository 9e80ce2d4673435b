package rows

import (
	"slices"
	"strings"
)

// Names of the system properties.
const (
	PartitionKey = "PartitionKey"
	RowKey       = "RowKey"
	Timestamp    = "Timestamp"
)

// WithKeys adds the keys to a list of selected properties. It returns nil for an empty list, which selects all
// properties.
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
