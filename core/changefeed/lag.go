package changefeed

import (
	"sync"

	"edgetable/core/edm"
)

// lagWindow is for how long, at least, a Lag remembers.
const lagWindow = 300 * edm.TicksPerSecond

// Lag remembers how far behind those are who read feeds: before one is told that what it wants is gone, somebody can
// be told that it is slow. It is safe for concurrent use.
type Lag struct {
	mu        sync.Mutex
	window    edm.Ticks // the number of it
	now, last float64
}

// Note notes that the oldest change that somebody read, from a position, had an age, in a feed that keeps changes for a
// time.
func (l *Lag) Note(now, age, keep edm.Ticks) {
	if keep <= 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn(now)
	l.now = max(l.now, float64(max(age, 0))/float64(keep))
}

// Share is the largest age of the last five to ten minutes as a share of the time for which the feed kept changes: near
// 1 somebody is about to miss some.
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
