package pebblestore

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"edgetable/core/edm"
	"edgetable/core/table"
)

var errFailed = errors.New("the log of the store failed")

// journal numbers commits and records which commits are durable. A commit gets its number, which journal.last then
// contains, before it is applied. So a reader that sees the commit waits for it.
type journal struct {
	clock   *table.Clock
	started edm.Ticks              // highest commit number that earlier processes may have issued
	last    atomic.Int64           // highest commit number issued so far
	durable atomic.Int64           // all commits up to this number are synced or will never be applied
	stalled func() <-chan struct{} // function that returns a channel, which is closed while the log may wait for disk space or a file descriptor; nil if the log never waits
	short   func() error           // function whose error says whether disk space or a file descriptor is missing

	// numbers is held while a number is issued, and is acquired before mu. Issuing a number may take long on a full
	// disk. Meanwhile, journal.fail must be able to acquire mu.
	numbers sync.Mutex

	mu     sync.Mutex
	oldest *entry // list of the commits that are neither done nor canceled, ordered by number
	newest *entry
	failed error

	catalog       edm.Ticks // number of the last catalog change
	syncedCatalog edm.Ticks // highest number of a catalog change that is synced
}

// entry is a commit between its registration and its fsync.
type entry struct {
	number       edm.Ticks
	catalog      edm.Ticks // number of the last catalog change before this commit
	undo         undo
	size         int // size of the commit in the log, in bytes
	older, newer *entry
	waiting      []chan struct{} // replies that wait for this commit and for all older commits
}

// start starts the journal before the first commit is registered. All commits up to the given number are
// durable.
func (j *journal) start(clock *table.Clock, from edm.Ticks) {
	j.clock, j.started = clock, from
	j.last.Store(int64(from))
	j.durable.Store(int64(from))
}

// register assigns a number to a commit. The caller must later call journal.done or journal.cancel with the entry.
func (j *journal) register(u undo) (*entry, error) {
	j.numbers.Lock()
	defer j.numbers.Unlock()
	n, err := j.clock.Next()
	if err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed != nil {
		return nil, j.failed
	}
	return j.add(n, n, u), nil
}

// registerReplay registers, as one entry, the commits of another store with numbers from first to last.
func (j *journal) registerReplay(first, last edm.Ticks, u undo) (*entry, error) {
	j.numbers.Lock()
	defer j.numbers.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed != nil {
		return nil, j.failed
	}
	return j.add(first, last, u), nil
}

// add appends an entry for the commits with numbers from first to last. mu must be held.
func (j *journal) add(first, last edm.Ticks, u undo) *entry {
	if u.stripe == nil {
		j.catalog = last
	}
	e := &entry{number: first, catalog: j.catalog, undo: u, older: j.newest}
	if e.older != nil {
		e.older.newer = e
	} else {
		j.oldest = e
	}
	j.newest = e
	j.last.Store(max(j.last.Load(), int64(last)))
	return e
}

func (j *journal) done(e *entry) {
	j.mu.Lock()
	j.syncedCatalog = max(j.syncedCatalog, e.catalog)
	if st := e.undo.stripe; st != nil {
		st.synced = max(st.synced, e.number)
	}
	j.remove(e)
}

// cancel removes a commit that will never be applied.
func (j *journal) cancel(e *entry) {
	j.mu.Lock()
	j.remove(e)
}

// remove removes a commit from the list and releases mu, which must be held. If the commit is the oldest one, remove
// wakes the replies that wait for it.
func (j *journal) remove(e *entry) {
	if j.failed != nil {
		j.mu.Unlock()
		return
	}
	if e.newer != nil {
		e.newer.older = e.older
	} else {
		j.newest = e.older
	}
	if e.older != nil {
		e.older.newer = e.newer
		// The replies that wait for this commit also wait for the older commits.
		e.older.waiting = append(e.older.waiting, e.waiting...)
		j.mu.Unlock()
		return
	}
	j.oldest = e.newer
	if j.oldest != nil {
		j.durable.Store(int64(j.oldest.number - 1))
	} else {
		j.durable.Store(j.last.Load())
	}
	j.mu.Unlock()
	for _, c := range e.waiting {
		close(c)
	}
}

// wait waits until all commits with numbers up to n are durable.
func (j *journal) wait(ctx context.Context, n int64) error {
	if j.durable.Load() >= n {
		return nil
	}
	j.mu.Lock()
	if j.failed != nil {
		j.mu.Unlock()
		return j.failed
	}
	e := j.newest
	for e != nil && int64(e.number) > n {
		e = e.older
	}
	if e == nil {
		j.mu.Unlock()
		return nil
	}
	c := make(chan struct{})
	e.waiting = append(e.waiting, c)
	j.mu.Unlock()
	var stalled <-chan struct{}
	if j.stalled != nil {
		stalled = j.stalled()
	}
	select {
	case <-c:
	case <-stalled:
		return j.short()
	case <-ctx.Done():
		return ctx.Err()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.failed
}

// fail ends the journal after a failed write of the log. No further commit becomes durable.
func (j *journal) fail() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed != nil {
		return
	}
	j.failed = errFailed
	for e := j.oldest; e != nil; e = e.newer {
		for _, c := range e.waiting {
			close(c)
		}
	}
	j.oldest, j.newest = nil, nil
}
