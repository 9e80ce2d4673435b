package dynamodb

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"edgetable/core/edm"
)

const (
	lookEvery = edm.TicksPerSecond * 5 // to which the age of a replica is exact
	lookTime  = 2 * time.Second        // for which an answer waits

	// After a failure it is not tried again at once: each answer would wait for lookTime.
	firstLookWait = edm.TicksPerSecond
	lastLookWait  = edm.TicksPerSecond * 30
)

// look reads the oldest heartbeat, seldom, and once for all who ask meanwhile.
type look struct {
	now  func() edm.Ticks
	read func(ctx context.Context) (oldest edm.Ticks, err error) // 0: the heartbeats are not all there

	reading singleflight.Group

	mu         sync.Mutex
	known      bool      // it was read once
	oldest     edm.Ticks // what it was then
	last, next edm.Ticks // when it was tried last, and from when on it is tried again
	wait       edm.Ticks // after the next failure
}

// get returns the oldest heartbeat; 0: they are not all there. known is false if it was never read.
func (l *look) get() (oldest edm.Ticks, known bool) {
	if l.due() {
		_, _, _ = l.reading.Do("", func() (any, error) {
			l.again()
			return nil, nil
		})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.oldest, l.known
}

func (l *look) due() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	return now >= l.next || now < l.last // the clock was set back
}

func (l *look) again() {
	if !l.due() { // another one has just read it
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	oldest, err := l.read(ctx)
	cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = l.now()
	if err != nil {
		l.wait = min(max(2*l.wait, firstLookWait), lastLookWait)
		l.next = l.last + l.wait
		return
	}
	// A time that was true stays true, also where a read is older than the last one.
	l.known, l.oldest = true, max(l.oldest, oldest)
	l.next, l.wait = l.last+lookEvery, 0
}
