// Package backlog makes commits wait while the compactions of a store lag.
package backlog

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"edgetable/adapters/store/pebblestore/internal/fulldisk"
)

// Max is the number of uncompacted layers of data files at which commits wait.
//
// Pebble's own wait holds the lock of all commits, also of deletes, and would last as long as compactions find no
// disk space. A commit waits in this package before it gets its number. So readers never wait for it, and the wait
// ends when the disk is full.
const Max = 32

// judgeEvery is the maximum time between two checks of the backlog.
const judgeEvery = time.Second

// Backlog makes commits wait while compactions lag.
type Backlog struct {
	change chan struct{} // a flush or a compaction has ended
	done   chan struct{} // closed when Run ends
	count  *atomic.Int64 // how often commits had to wait

	mu     sync.Mutex
	caught chan struct{} // closed when compactions have caught up; nil if they do not lag
}

// New returns a Backlog that counts how often commits had to wait.
func New(count *atomic.Int64) *Backlog {
	return &Backlog{change: make(chan struct{}, 1), done: make(chan struct{}), count: count}
}

// Changed reports that a flush or a compaction has ended. It does not block.
func (b *Backlog) Changed() {
	if b == nil {
		return // only to read
	}
	select {
	case b.change <- struct{}{}:
	default:
	}
}

// Run checks the backlog after each change, and each second, until ctx ends. If no compaction runs, for example
// because one failed, commits do not wait: the next flush starts another compaction.
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

// Wait returns when compactions do not lag, or when the disk is full: then waiting does not help, and Admit decides.
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
