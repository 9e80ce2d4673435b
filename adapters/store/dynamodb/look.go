package dynamodb

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"edgetable/core/edm"
)

const (
	lookEvery = edm.TicksPerSecond * 5 // precision of a replica's age
	lookTime  = 2 * time.Second        // timeout of a read for which a reply waits

	// After a failure, the next attempt is delayed: otherwise each reply would wait for lookTime.
	firstLookWait = edm.TicksPerSecond
	lastLookWait  = edm.TicksPerSecond * 30
)

// look reads the oldest heartbeat at intervals, once for all callers that ask meanwhile.
type look struct {
	now  func() edm.Ticks
	read func(ctx context.Context) (oldest edm.Ticks, err error) // returns 0 if heartbeats are missing

	reading singleflight.Group

	mu         sync.Mutex
	known      bool      // it was read at least once
	oldest     edm.Ticks // its value then
	last, next edm.Ticks // time of the last attempt, and the earliest time of the next one
	wait       edm.Ticks // delay after the next failure
}

// get returns the oldest heartbeat, or 0 if heartbeats are missing. known is false if it could never be read.
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
	if !l.due() { // another caller has just read it
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
	// A time that was once correct stays correct, even if a later read returns an older one.
	l.known, l.oldest = true, max(l.oldest, oldest)
	l.next, l.wait = l.last+lookEvery, 0
}
