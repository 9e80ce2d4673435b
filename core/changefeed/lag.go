package changefeed

import (
	"sync"

	"edgetable/core/edm"
)

// lagWindow is the minimum time for which a Lag remembers a reader.
const lagWindow = 300 * edm.TicksPerSecond

// Lag records how far readers lag behind the newest changes, so that an operator sees a slow reader before it misses
// changes. It is safe for concurrent use.
type Lag struct {
	mu        sync.Mutex
	window    edm.Ticks // number of the current interval of length lagWindow
	now, last float64
}

// Note records one read at the time now. The other arguments are the age of the oldest change in the result, and the
// retention time of the feed.
func (l *Lag) Note(now, age, keep edm.Ticks) {
	if keep <= 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn(now)
	l.now = max(l.now, float64(max(age, 0))/float64(keep))
}

// Share returns the greatest lag of a reader in the last five to ten minutes, as a fraction of the feed's retention
// time. Near 1, a reader is about to miss changes.
func (l *Lag) Share(now edm.Ticks) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn(now)
	return max(l.now, l.last)
}

func (l *Lag) turn(now edm.Ticks) {
	switch n := now / lagWindow; {
	case n == l.window:
	case n == l.window+1:
		l.window, l.last, l.now = n, l.now, 0
	default:
		l.window, l.last, l.now = n, 0, 0
	}
}
