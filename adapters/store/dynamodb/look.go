package dynamodb

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"edgetable/core/edm"
)

const (
	lookEvery = edm.TicksPerSecond * 5 // interval between reads of the heartbeats, and so the precision of the replica's age
	lookTime  = 2 * time.Second        // timeout of a read; replies to clients may wait for the read

	// The first and the longest delay between a failed read and the next read. Without a delay, every reply to a client would
	// start another read, and would wait until that read fails after lookTime.
	firstLookWait = edm.TicksPerSecond
	lastLookWait  = edm.TicksPerSecond * 30
)

// beatReader reads the oldest heartbeat at intervals. Callers that arrive during a read share its result.
type beatReader struct {
	now  func() edm.Ticks
	read func(ctx context.Context) (oldest edm.Ticks, err error) // returns 0 if heartbeats are missing

	reading singleflight.Group

	mu         sync.Mutex
	known      bool      // a read has succeeded at least once
	oldest     edm.Ticks // the newest value that a read has returned
	last, next edm.Ticks // time of the last attempt, and the earliest time of the next attempt
	wait       edm.Ticks // delay after the next failure
}

// get returns the oldest heartbeat, or 0 if heartbeats are missing. known is false if no read has succeeded yet.
func (l *beatReader) get() (oldest edm.Ticks, known bool) {
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
	return now >= l.next || now < l.last // the second case: the clock was set back
}

func (l *beatReader) again() {
	if !l.due() { // another caller has just read the heartbeats
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
	// If a read has once shown that all writes up to a time are visible, this stays true, even if a later read returns an older time.
	l.known, l.oldest = true, max(l.oldest, oldest)
	l.next, l.wait = l.last+lookEvery, 0
}
