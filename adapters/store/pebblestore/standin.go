package pebblestore

import (
	"context"
	"io"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"

	"edgetable/core/table"
)

// standIn serves reads while a start waits for disk space. It is a second store,
// opened on the same directory without changes to it.
type standIn struct {
	store atomic.Pointer[Store] // nil: there is none

	mu        sync.RWMutex // held by each read, and locked to end them
	ended     bool         // the start has finished
	abandoned bool         // Close was called before
}

// reader returns the store that serves reads instead, and release, which ends the read; or
// nil.
func (i *standIn) reader() (r *Store, release func()) {
	if i.store.Load() == nil {
		return nil, nil
	}
	i.mu.RLock()
	if r = i.store.Load(); r == nil {
		i.mu.RUnlock()
	}
	return r, i.mu.RUnlock
}

// refuse returns table.ErrFull while reads are served instead: nothing else is until then.
func (i *standIn) refuse() error {
	if i.store.Load() != nil {
		return table.ErrFull
	}
	return nil
}

// begin serves reads with r, unless the start has finished.
func (i *standIn) begin(r *Store) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.ended {
		i.store.Store(r)
	}
	return !i.ended
}

// end lets the reads finish and closes the store that served them.
func (i *standIn) end() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.ended = true
	if r := i.store.Swap(nil); r != nil {
		r.db.Close() // nothing was written
	}
}

// abandon is end before the start has finished. It reports whether that is so.
func (i *standIn) abandon() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if r := i.store.Swap(nil); r != nil {
		r.db.Close() // nothing was written
		i.abandoned = true
	}
	return i.abandoned && !i.ended
}

// openWaiting opens the store. If that waits for disk space and there is
// something to read, it goes on in the background, and the store serves reads.
func (s *Store) openWaiting(o Options) error {
	opened := make(chan error, 1)
	go func() {
		o := o
		o.FS = s.disk.FS()
		opened <- s.open(o)
	}()
	select {
	case err := <-opened:
		return err
	case <-s.disk.Stalled():
	}
	r, err := s.openToStandIn(o)
	if err == nil && !s.standIn.begin(r) {
		err = r.db.Close()
	}
	if err != nil || s.standIn.refuse() == nil {
		return <-opened
	}
	s.started = make(chan struct{})
	go func() {
		if err := <-opened; err != nil {
			s.fatal(err)
		}
		close(s.started)
		if s.standIn.abandoned {
			s.Close() // Close has returned already
		}
	}()
	return nil
}

// openToStandIn opens the directory a second time, to read.
func (s *Store) openToStandIn(o Options) (*Store, error) {
	o.FS = unlocked{o.FS}
	r, err := openToRead(o)
	if err != nil {
		return nil, err
	}
	r.disk, r.fatal, r.seed = s.disk, s.fatal, s.seed
	if err := r.logs.Damage(); err != nil && !o.AcceptDamage {
		r.db.Close() // nothing was written
		return nil, err
	}
	return r, nil
}

// unlocked is a file system for a second store on a directory that this process
// has locked.
type unlocked struct{ vfs.FS }

func (unlocked) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }

// Opened waits until a start that waits for disk space has finished, or ctx ends. Until
// then the store has no log to read, and nothing can be applied to it.
func (s *Store) Opened(ctx context.Context) error {
	if s.started == nil {
		return nil
	}
	select {
	case <-s.started:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
