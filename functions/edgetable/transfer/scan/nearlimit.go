package scan

import (
	"fmt"
	"sync"

	"edgetable/core/payload"
	"edgetable/core/table"
	"edgetable/functions/edgetable/transfer/ranges"
)

// NearLimit counts entities that Azure Table Storage may refuse, because their size is very close
// to the limit. The zero NearLimit is ready to use. It is safe for concurrent use.
type NearLimit struct {
	mu    sync.Mutex
	n     int64
	first string
}

// Look counts an entity if the service may refuse the entity. name is the table.
func (l *NearLimit) Look(name string, e *payload.Received) {
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
