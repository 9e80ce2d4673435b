package pebblestore

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"edgetable/adapters/store/pebblestore/internal/fulldisk"
)

// maxBacklog is the number of layers of data files that wait to be compacted at which
// commits wait too. Pebble's own wait holds the lock of all commits, also of deletes, and
// would last as long as compactions find no disk space. So this one is before a commit has
// its number: a reader never waits for it, and it ends when the disk is full.
const maxBacklog = 32

// judgeEvery is the time between two looks at the backlog without a change.
const judgeEvery = time.Second

// backlog lets commits wait while compactions are behind.
type backlog struct {
	change chan struct{} // a flush or a compaction has ended
	done   chan struct{} // closed when run ends
	count  *atomic.Int64 // how often commits had to wait

	mu     sync.Mutex
	caught chan struct{} // closed when compactions have caught up; nil: they are not behind
}

func newBacklog(count *atomic.Int64) *backlog {
	return &backlog{change: make(chan struct{}, 1), done: make(chan struct{}), count: count}
}

// changed notes that a flush or a compaction has ended. It does not block.
func (b *backlog) changed() {
	if b == nil {
		return // only to read
	}
	select {
	case b.change <- struct{}{}:
	default:
	}
}

// run judges after each change, and each second, until ctx ends. If no compaction runs, as
// after one that failed, commits go on: the next flush begins another one.
func (b *backlog) run(ctx context.Context, state func() (layers, running int)) {
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
		b.set(layers >= maxBacklog && running > 0)
	}
}

// waitEnd returns when run has ended.
func (b *backlog) waitEnd() { <-b.done }

// set begins or ends the wait.
func (b *backlog) set(behind bool) {
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

// wait returns when compactions are not behind, or the disk is full: then there is
// nothing to wait for, and Admit judges.
func (b *backlog) wait(ctx context.Context, d *fulldisk.Disk) error {
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
