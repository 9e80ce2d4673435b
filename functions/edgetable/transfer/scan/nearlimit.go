package scan

import (
	"fmt"
	"sync"

	"edgetable/core/payload"
	"edgetable/core/table"
	"edgetable/functions/edgetable/transfer/ranges"
)

// NearLimit counts entities so close to the size limit that Azure Table Storage may reject them. The zero value is
// ready to use. It is safe for concurrent use.
type NearLimit struct {
	mu    sync.Mutex
	n     int64
	first string
}

// Count counts an entity of the named table if the entity is near the limit.
func (l *NearLimit) Count(name string, e *payload.Received) {
	if !table.NearLimit(e.PartitionKey, e.RowKey, e.Properties) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.n++; l.n == 1 {
		l.first = name + ": PartitionKey " + ranges.Quote(e.PartitionKey) + ", RowKey " + ranges.Quote(e.RowKey)
	}
}

// String returns a sentence about the counted entities, or "" if there are none.
func (l *NearLimit) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.n == 0 {
		return ""
	}
	return fmt.Sprintf("entities within 160 bytes of 1 MiB, which Azure Table Storage may refuse: %d, such as %s", l.n, l.first)
}
