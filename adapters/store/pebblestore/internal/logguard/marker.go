package logguard

import (
	"sync/atomic"
	"time"

	"edgetable/core/edm"
)

// quiet is the time without commits after which the store writes a mark, which proves that the last commits were
// synced.
const quiet = 100 * time.Millisecond

// Marker writes a mark after the last commit when commits pause.
type Marker struct {
	synced atomic.Int64  // highest number of a commit that is synced
	marked int64         // the commit in the last mark; only Run uses it
	wake   chan struct{} // a commit was synced
	stop   chan struct{}
	done   chan struct{}
}

// NewMarker returns a marker, which [Marker.Run] runs.
func NewMarker() *Marker {
	return &Marker{wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
}

// SawSync reports that a commit is synced.
func (m *Marker) SawSync(n edm.Ticks) {
	for {
		old := m.synced.Load()
		if int64(n) <= old {
			return
		}
		if m.synced.CompareAndSwap(old, int64(n)) {
			break
		}
	}
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// Synced returns the highest number of a commit that is synced.
func (m *Marker) Synced() edm.Ticks { return edm.Ticks(m.synced.Load()) }

// noteEvery is the interval at which a synced commit is recorded outside of the log, while there are commits.
const noteEvery = time.Second

// Run writes marks until End is called, and records synced commits outside of the log.
func (m *Marker) Run(write func(Mark) error, note func(edm.Ticks)) {
	defer close(m.done)
	var noted time.Time
	for {
		select {
		case <-m.stop:
			return
		case <-m.wake:
		}
		n := int64(0)
		for n != m.synced.Load() { // while there are commits, their own marks are enough
			n = m.synced.Load()
			select {
			case <-m.stop:
				return
			case <-time.After(quiet):
			}
			if time.Since(noted) >= noteEvery {
				note(edm.Ticks(n))
				noted = time.Now()
			}
		}
		if n > m.marked {
			if write(Mark{Synced: edm.Ticks(n)}) != nil {
				return // the write to the log failed, which ends the store
			}
			m.marked = n
			note(edm.Ticks(n))
			noted = time.Now()
		}
	}
}

// End stops Run.
func (m *Marker) End() {
	close(m.stop)
	<-m.done
}
