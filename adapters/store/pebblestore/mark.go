package pebblestore

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"

	"edgetable/core/edm"
)

// mark is written to the log with each commit:
//
//	"ET" · number of the commit (8) · number of the last commit known to be synced (8)
//
// With it a later start distinguishes damage from the end of a log. After a
// crash a log may have readable commits behind unreadable ones, because a disk
// writes in any order; none of them was confirmed. But if the mark of a
// readable commit shows that a commit behind the unreadable place was synced,
// then that place had also been synced, and its commits were confirmed.
type mark struct{ number, synced edm.Ticks }

const markLength = 2 + 8 + 8

func (m mark) append(dst []byte) []byte {
	dst = append(dst, "ET"...)
	dst = binary.BigEndian.AppendUint64(dst, uint64(m.number))
	return binary.BigEndian.AppendUint64(dst, uint64(m.synced))
}

// markOf returns the mark in a record of the log. ok is false if there is none.
func markOf(record []byte) (m mark, ok bool) {
	if len(record) < batchrepr.HeaderLen {
		return mark{}, false
	}
	r := batchrepr.Read(record)
	for {
		kind, data, _, more, err := r.Next()
		if err != nil || !more {
			return mark{}, false
		}
		if kind == pebble.InternalKeyKindLogData && len(data) == markLength && bytes.HasPrefix(data, []byte("ET")) {
			return mark{
				number: edm.Ticks(binary.BigEndian.Uint64(data[2:])),
				synced: edm.Ticks(binary.BigEndian.Uint64(data[10:])),
			}, true
		}
	}
}

// quiet is the time without commits after which the store writes a mark behind
// the last ones, which proves that they were synced.
const quiet = 100 * time.Millisecond

// marker writes a mark behind the last commit when commits pause.
type marker struct {
	synced atomic.Int64  // highest number of a commit that is synced
	marked int64         // the commit in the last mark; used only by the goroutine
	wake   chan struct{} // a commit was synced
	stop   chan struct{}
	done   chan struct{}
}

func newMarker() *marker {
	return &marker{wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
}

// sawSync notes that a commit is synced.
func (m *marker) sawSync(n edm.Ticks) {
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

// noteEvery is the time between two notes of a synced commit outside of the log, while
// there are commits.
const noteEvery = time.Second

// run writes marks until end is called, and notes the synced commits outside of the log.
func (m *marker) run(write func(mark) error, note func(edm.Ticks)) {
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
			if write(mark{synced: edm.Ticks(n)}) != nil {
				return // the log failed, which ends the store
			}
			m.marked = n
			note(edm.Ticks(n))
			noted = time.Now()
		}
	}
}

// end stops the goroutine.
func (m *marker) end() {
	close(m.stop)
	<-m.done
}

// writeMark writes a mark that belongs to no commit.
func (s *Store) writeMark(m mark) error {
	defer s.dieOfPanic()
	return s.db.LogData(m.append(nil), pebble.Sync)
}
