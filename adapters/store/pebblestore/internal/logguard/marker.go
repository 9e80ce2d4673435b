package logguard

import (
	"sync/atomic"
	"time"

	"edgetable/core/edm"
)

// idleTime is the time without commits after which a [Marker] writes a [Mark].
const idleTime = 100 * time.Millisecond

// Marker writes a [Mark] to the log when no commits follow for a short time. The Mark proves that the last commits were synced.
type Marker struct {
	synced atomic.Int64  // highest number of a synced commit
	marked int64         // value of Synced in the last Mark that Run has written; only Run uses this field
	wake   chan struct{} // channel that receives a value when a commit was synced
	stop   chan struct{}
	done   chan struct{}
}

// NewMarker returns a Marker. The caller must call [Marker.Run] in a goroutine.
func NewMarker() *Marker {
	return &Marker{wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
}

// SawSync reports that the commit with number n is synced.
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

// Synced returns the highest number of a synced commit.
func (m *Marker) Synced() edm.Ticks { return edm.Ticks(m.synced.Load()) }

const noteEvery = time.Second

// Run writes Marks to the log until End is called. It also passes the number of the last synced commit to the function
// note, which stores the number outside of the log.
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
		for n != m.synced.Load() { // Run writes no Mark while commits follow, because each commit contains a Mark
			n = m.synced.Load()
			select {
			case <-m.stop:
				return
			case <-time.After(idleTime):
			}
			if time.Since(noted) >= noteEvery {
				note(edm.Ticks(n))
				noted = time.Now()
			}
		}
		if n > m.marked {
			if write(Mark{Synced: edm.Ticks(n)}) != nil {
				return // the log cannot be written, so the store ends the process
			}
			m.marked = n
			note(edm.Ticks(n))
			noted = time.Now()
		}
	}
}

// End ends Run and waits until Run has returned.
func (m *Marker) End() {
	close(m.stop)
	<-m.done
}
