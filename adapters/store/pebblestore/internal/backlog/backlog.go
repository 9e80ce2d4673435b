// Package backlog lets commits wait while the compactions of a store are behind.
package backlog

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"edgetable/adapters/store/pebblestore/internal/fulldisk"
)

// Max is the number of layers of data files that wait to be compacted at which
// commits wait too. Pebble's own wait holds the lock of all commits, also of deletes, and
// would last as long as compactions find no disk space. So this one is before a commit has
// its number: a reader never waits for it, and it ends when the disk is full.
const Max = 32

// judgeEvery is the time between two looks at the backlog without a change.
const judgeEvery = time.Second

// Backlog lets commits wait while compactions are behind.
type Backlog struct {
	change chan struct{} // a flush or a compaction has ended
	done   chan struct{} // closed when Run ends
	count  *atomic.Int64 // how often commits had to wait

	mu     sync.Mutex
	caught chan struct{} // closed when compactions have caught up; nil: they are not behind
}

// New returns a Backlog that counts how often commits had to wait.
func New(count *atomic.Int64) *Backlog {
	return &Backlog{change: make(chan struct{}, 1), done: make(chan struct{}), count: count}
}

// Changed notes that a flush or a compaction has ended. It does not block.
func (b *Backlog) Changed() {
	if b == nil {
		return // only to read
	}
	select {
	case b.change <- struct{}{}:
	default:
	}
}

// Run judges after each change, and each second, until ctx ends. If no compaction runs, as
// after one that failed, commits go on: the next flush begins another one.
func (b *Backlog) Run(ctx context.Context, state func() (layers, running int)) {
	defer close(b.done)
	t := time.NewTicker(judgeEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			b.set(false)
			return
		case <-b.change:
		case <-t.C:
		}
		layers, running := state()
		b.set(layers >= Max && running > 0)
	}
}

// WaitEnd returns when Run has ended.
func (b *Backlog) WaitEnd() { <-b.done }

// set begins or ends the wait.
func (b *Backlog) set(behind bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if behind == (b.caught != nil) {
		return
	}
	if behind {
		b.caught = make(chan struct{})
		b.count.Add(1)
		return
	}
	close(b.caught)
	b.caught = nil
}

// Wait returns when compactions are not behind, or the disk is full: then there is
// nothing to wait for, and Admit judges.
func (b *Backlog) Wait(ctx context.Context, d *fulldisk.Disk) error {
	b.mu.Lock()
	caught := b.caught
	b.mu.Unlock()
	if caught == nil {
		return nil
	}
	for !d.Full() {
		select {
		case <-caught:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-d.Looked():
		}
	}
	return nil
}
