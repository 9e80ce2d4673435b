// Package backlog makes commits wait while compactions are slower than the writes.
package backlog

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"edgetable/adapters/store/pebblestore/internal/fulldisk"
)

// Max is the number of sublevels in level 0 at which commits begin to wait for compactions.
//
// At a similar limit of Pebble, a waiting commit holds a lock that all commits need. Here, a commit waits before it
// gets its number, and only until the disk is full.
const Max = 32

const judgeEvery = time.Second

// Backlog makes commits wait while compactions are slower than the writes.
type Backlog struct {
	change chan struct{} // channel that receives a value when a flush or a compaction has ended
	done   chan struct{} // channel that is closed when Run ends
	count  *atomic.Int64 // number of times that commits began to wait

	mu     sync.Mutex
	caught chan struct{} // channel that is closed when commits may continue; nil if commits need not wait
}

// New returns a Backlog. Each time commits begin to wait, the Backlog increments the given counter.
func New(count *atomic.Int64) *Backlog {
	return &Backlog{change: make(chan struct{}, 1), done: make(chan struct{}), count: count}
}

// Changed reports that a flush or a compaction has ended. It does not block.
func (b *Backlog) Changed() {
	if b == nil {
		return // a store that is open for reading only has no Backlog
	}
	select {
	case b.change <- struct{}{}:
	default:
	}
}

// Run checks after each flush or compaction, and once per second, whether commits must wait. It returns when ctx is
// done.
//
// The function state returns the number of sublevels in level 0 and the number of running compactions. Without a
// running compaction, commits do not wait, because only the next flush starts one.
func (b *Backlog) Run(ctx context.Context, state func() (layers, running int)) {
	defer close(b.done)
	t := time.NewTicker(judgeEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			b.setBehind(false)
			return
		case <-b.change:
		case <-t.C:
		}
		layers, running := state()
		b.setBehind(layers >= Max && running > 0)
	}
}

// WaitEnd waits until Run has ended.
func (b *Backlog) WaitEnd() { <-b.done }

// setBehind makes commits wait if behind is true, and releases them otherwise.
func (b *Backlog) setBehind(behind bool) {
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

// Wait waits until commits may continue or the disk is full. On a full disk, the caller's next call of d.Admit decides
// about the commit.
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
