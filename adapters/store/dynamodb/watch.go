package dynamodb

import (
	"sync"
	"time"
)

// watch stores the time at which this process first saw a record in a state that another process may have to end: a
// deletion or a seal.
type watch struct {
	mu   sync.Mutex
	seen map[string]sighting
}

type sighting struct {
	state string
	since time.Duration
}

const maxSightings = 1000

// unchanged returns how long this process has seen the record with the given key in the given state.
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
