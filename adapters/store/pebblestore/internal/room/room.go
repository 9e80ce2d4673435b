// Package room limits the memory that the tables of a store in memory may use.
package room

import (
	"sync/atomic"

	"edgetable/core/table"
)

// Room limits the memory of the tables of a store in memory. At the limit, writes that add data are refused. A nil Room
// has no limit.
type Room struct {
	limit   int64
	full    atomic.Bool
	refused atomic.Int64
	deleted atomic.Bool // whether Admit has accepted a delete since the last compaction of all tables
}

// New returns a Room of limit bytes, or nil if limit is 0 or less.
func New(limit int64) *Room {
	if limit <= 0 {
		return nil
	}
	return &Room{limit: limit}
}

// Update refuses writes from the limit on, and accepts them again when a sixteenth of the limit is free. It returns
// true if a compaction would free memory.
func (r *Room) Update(size int64, logf func(string, ...any)) (compact bool) {
	switch {
	case r == nil:
		return false
	case size >= r.limit && !r.full.Swap(true):
		logf("edgetable: the tables in memory use %d MiB, which is their limit: writes are refused; reads and deletes work; delete entities, or give the server more memory", size>>20)
	case size < r.limit-r.limit/16 && r.full.Swap(false):
		logf("edgetable: there is memory for the tables again: writes are accepted")
	}
	return r.full.Load() && r.deleted.Swap(false)
}

// Admit returns an error if the memory is full and the write adds data. After an accepted delete, the next call of
// Update requests a compaction.
func (r *Room) Admit(deletes bool) error {
	switch {
	case r == nil || !r.full.Load():
		return nil
	case deletes:
		r.deleted.Store(true)
		return nil
	}
	r.refused.Add(1)
	return table.ErrMemoryFull
}

// Refusals returns the number of refused writes.
func (r *Room) Refusals() int64 {
	if r == nil {
		return 0
	}
	return r.refused.Load()
}

// IsFull reports whether writes are refused.
func (r *Room) IsFull() bool { return r != nil && r.full.Load() }
