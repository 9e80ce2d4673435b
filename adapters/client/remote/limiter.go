package remote

import (
	"context"
	"sync"
	"time"
)

// limiter limits the number of requests in flight. The limit n increases by one after n successes, and is halved when
// the service refuses a request because of its load.
type limiter struct {
	mu      sync.Mutex
	bound   float64
	most    int
	active  int
	waiting []chan struct{}
	cut     time.Time // time at which the limit was last halved
}

const firstBound = 8

func newLimiter(most int) *limiter {
	return &limiter{bound: float64(min(firstBound, most)), most: most}
}

// acquire waits until a request may be sent, and returns the time at which the wait ended.
func (l *limiter) acquire(ctx context.Context) (since time.Time, err error) {
	l.mu.Lock()
	if l.active < int(l.bound) && len(l.waiting) == 0 {
		l.active++
		l.mu.Unlock()
		return time.Now(), ctx.Err()
	}
	turn := make(chan struct{})
	l.waiting = append(l.waiting, turn)
	l.mu.Unlock()
	select {
	case <-turn:
		return time.Now(), nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, c := range l.waiting {
		if c == turn {
			l.waiting = append(l.waiting[:i], l.waiting[i+1:]...)
			return time.Time{}, ctx.Err()
		}
	}
	l.active-- // admitWaiting has just counted this canceled request
	l.admitWaiting()
	return time.Time{}, ctx.Err()
}

// release ends a request. A refusal halves the limit, unless the request began before the last halving.
func (l *limiter) release(since time.Time, refused bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.active--
	switch {
	case !refused:
		l.bound = min(l.bound+1/l.bound, float64(l.most))
	case since.After(l.cut):
		l.bound = max(l.bound/2, 1)
		l.cut = time.Now()
	}
	l.admitWaiting()
}

// abandon ends a request without a response.
func (l *limiter) abandon() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.active--
	l.admitWaiting()
}

func (l *limiter) admitWaiting() {
	for l.active < int(l.bound) && len(l.waiting) > 0 {
		l.active++
		close(l.waiting[0])
		l.waiting = l.waiting[1:]
	}
}

func (l *limiter) currentLimit() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int(l.bound)
}
