package postgres

import "sync"

// lane does what waits in rounds: a round takes all that came while the last one ran. An
// idle lane begins at once, so groups form only where there is something to wait for.
type lane[T any] struct {
	limit int                                 // rounds at the same time
	pick  func(waiting []T) (group, rest []T) // chooses what the next round does, at least one
	round func(group []T)                     // does it

	mu      sync.Mutex
	waiting []T
	running int
}

func (l *lane[T]) put(all *sync.WaitGroup, one T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, one)
	if l.running < l.limit {
		l.running++
		all.Go(l.work)
	}
}

// enter lets the caller do a round of its own, if the lane is idle. Then leave must follow.
func (l *lane[T]) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running == l.limit || len(l.waiting) > 0 {
		return false
	}
	l.running++
	return true
}

// leave ends the round of a caller. What came meanwhile is done now.
func (l *lane[T]) leave(all *sync.WaitGroup) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) > 0 {
		all.Go(l.work)
		return
	}
	l.running--
}

func (l *lane[T]) work() {
	for {
		l.mu.Lock()
		if len(l.waiting) == 0 {
			l.running--
			l.mu.Unlock()
			return
		}
		var group []T
		group, l.waiting = l.pick(l.waiting)
		l.mu.Unlock()
		l.round(group)
	}
}
