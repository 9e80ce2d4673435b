package dynamodb

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"edgetable/core/edm"
)

const (
	lookEvery = edm.TicksPerSecond * 5 // interval between reads of the heartbeats, which determines the precision of the replica's age
	lookTime  = 2 * time.Second        // timeout of a read; replies to clients may wait for the read

	// The minimum and maximum delay after a failed read. Without the delay, every reply to a client could wait lookTime
	// for a failing read.
	firstLookWait = edm.TicksPerSecond
	lastLookWait  = edm.TicksPerSecond * 30
)

// beatReader reads the oldest heartbeat at intervals. Callers that arrive during a read share the result.
type beatReader struct {
	now  func() edm.Ticks
	read func(ctx context.Context) (oldest edm.Ticks, err error) // function that returns the time of the oldest heartbeat, or 0 if a heartbeat is missing

	timeout time.Duration // of a read: lookTime

	reading singleflight.Group

	mu         sync.Mutex
	known      bool      // a read has succeeded at least once
	oldest     edm.Ticks // the newest time that a read has returned
	last, next edm.Ticks // time of the last attempt, and the earliest time of the next attempt
	wait       edm.Ticks // delay after the next failure
}

// get returns the time of the oldest heartbeat, or 0 if heartbeats are missing. The result ok is false if no read
// has succeeded yet.
func (l *beatReader) get() (oldest edm.Ticks, ok bool) {
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

func (l *beatReader) due() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	return now >= l.next || now < l.last // a last attempt in the future means that the clock was set back
}

func (l *beatReader) again() {
	if !l.due() { // another caller has read the heartbeats while this caller waited
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), l.timeout)
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
	// A later read may return an earlier time. All writes up to the known time remain visible, so the known time does
	// not decrease.
	l.known, l.oldest = true, max(l.oldest, oldest)
	l.next, l.wait = l.last+lookEvery, 0
}
