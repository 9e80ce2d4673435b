package dynamodb

import (
	"sync"
	"time"
)

// watch stores the time at which this process first saw each record in its current state. Only states that another
// process should end are watched: the deletion of the table, and the refusal of writes.
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
