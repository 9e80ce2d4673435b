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
	news  func(places []place, list []*waiter) []int // returns the indexes of the positions after which there may be changes
	run   func(do func())
	every time.Duration

	mu   sync.Mutex
	list map[place]*waiter
	asks bool
}

// place is a position in a feed, as a map key. Clients that wait at the same position share one waiter.
type place struct {
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
	where := place{at.Incarnation, string(at.At)}
	w := l.enter(where, p)
	defer l.remove(where, w)
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *waiters) enter(where place, p Position) *waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.list[where]
	if w == nil {
		w = &waiter{position: p, ready: make(chan struct{})}
		if l.list == nil {
			l.list = make(map[place]*waiter)
		}
		l.list[where] = w
	}
	w.waiting++
	if !l.asks {
		l.asks = true
		l.run(l.ask)
	}
	return w
}

func (l *waiters) remove(where place, w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.waiting--; w.waiting == 0 && l.list[where] == w {
		delete(l.list, where)
	}
}

func (l *waiters) ask() {
	for {
		places, waiting := l.places()
		if len(places) == 0 {
			return
		}
		for _, i := range l.news(places, waiting) {
			l.wake(places[i], waiting[i])
		}
		time.Sleep(l.every)
	}
}

// places returns the positions at which clients wait. If there are none, it clears l.asks, because polling then stops.
func (l *waiters) places() (places []place, list []*waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for where, w := range l.list {
		places, list = append(places, where), append(list, w)
	}
	l.asks = len(places) > 0
	return places, list
}

func (l *waiters) wake(where place, w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(w.ready)
	if l.list[where] == w {
		delete(l.list, where)
	}
}
