// Package room limits the memory that tables in memory may use.
package room

import (
	"sync/atomic"

	"edgetable/core/table"
)

// Room is the memory that tables in memory may use. As on a full disk, writes that add something are refused while
// there is none left. A nil Room has no limit.
type Room struct {
	limit   int64
	full    atomic.Bool
	refused atomic.Int64
	deleted atomic.Bool // since the last compaction of all tables
}

// New returns a Room of limit bytes; nil if limit is 0 or less.
func New(limit int64) *Room {
	if limit <= 0 {
		return nil
	}
	return &Room{limit: limit}
}

// Judge takes the size of the tables, and reports whether they should be compacted: the memory is full, and something
// was deleted since. Memory counts as free again when a sixteenth of it is free.
func (r *Room) Judge(size int64, logf func(string, ...any)) (compact bool) {
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

// Admit refuses a write that adds something, or remembers that there was a delete.
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
