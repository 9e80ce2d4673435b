package dynamodb

import (
	"sync"
	"time"
)

// watch records since when this process has seen a record in the same state. The state is one that another
// process should end: the deletion of the table, or the refusal of writes.
type watch struct {
	mu   sync.Mutex
	seen map[string]sighting
}

type sighting struct {
	state string
	since time.Duration
}

const maxSightings = 1000

// unchanged returns for how long this process has seen the record with this key in this state.
func (w *watch) unchanged(key, state string, now time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if seen, ok := w.seen[key]; ok && seen.state == state {
		return now - seen.since
	}
	if w.seen == nil || len(w.seen) >= maxSightings {
		w.seen = make(map[string]sighting)
	}
	w.seen[key] = sighting{state, now}
	return 0
}
