package follow

import (
	"fmt"
	"time"
)

// failLater schedules the next attempt with exponential backoff.
func (f *Follower) failLater() {
	f.again = time.Now().Add(min(f.o.Interval<<min(f.attempt, 20), slowest))
	f.attempt++
}

// joinCauses combines the reason why the log cannot be applied with the reason why no new store could be built.
func (f *Follower) joinCauses(cause error) error {
	if cause == nil {
		return f.failed
	}
	return fmt.Errorf("%w; %w", cause, f.failed)
}

// slowest is the maximum delay between two attempts to build a store. The delay grows because each attempt reads
// much data.
const slowest = time.Minute
