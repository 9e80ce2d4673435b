package feed

import (
	"context"
	"sync"
	"time"

	"edgetable/core/table"
)

// waiters polls the database while clients wait for changes, with one query for all clients. PostgreSQL's NOTIFY would
// be faster, but every commit that uses it takes a lock on the whole cluster.
type waiters struct {
	findChanged func(keys []waitKey, list []*waiter) []int // returns the indexes of the positions after which there may be changes
	run         func(do func())
	every       time.Duration

	mu        sync.Mutex
	list      map[waitKey]*waiter
	isPolling bool
}

// waitKey is a position in a feed, as a map key. Clients that wait at the same position share one waiter.
type waitKey struct {
	life table.Incarnation
	at   string
}

type waiter struct {
	position Position
	waiting  int
	ready    chan struct{}
}

// await returns when there may be changes after a position.
func (l *waiters) await(ctx context.Context, at table.FeedPosition) error {
	p, ok := ParsePosition(at.At)
	if !ok || p.Until != nil || p.Ended {
		return ctx.Err()
	}
	key := waitKey{at.Incarnation, string(at.At)}
	w := l.enter(key, p)
	defer l.remove(key, w)
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *waiters) enter(key waitKey, p Position) *waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.list[key]
	if w == nil {
		w = &waiter{position: p, ready: make(chan struct{})}
		if l.list == nil {
			l.list = make(map[waitKey]*waiter)
		}
		l.list[key] = w
	}
	w.waiting++
	if !l.isPolling {
		l.isPolling = true
		l.run(l.poll)
	}
	return w
}

func (l *waiters) remove(key waitKey, w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.waiting--; w.waiting == 0 && l.list[key] == w {
		delete(l.list, key)
	}
}

func (l *waiters) poll() {
	for {
		keys, waiting := l.waitKeys()
		if len(keys) == 0 {
			return
		}
		for _, i := range l.findChanged(keys, waiting) {
			l.wake(keys[i], waiting[i])
		}
		time.Sleep(l.every)
	}
}

// waitKeys returns the positions at which clients wait. If there are none, it clears l.isPolling, because polling then
// stops.
func (l *waiters) waitKeys() (keys []waitKey, list []*waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, w := range l.list {
		keys, list = append(keys, key), append(list, w)
	}
	l.isPolling = len(keys) > 0
	return keys, list
}

func (l *waiters) wake(key waitKey, w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(w.ready)
	if l.list[key] == w {
		delete(l.list, key)
	}
}
