package pebblestore

import (
	"sync/atomic"

	"edgetable/core/table"
)

// room is the memory that tables in memory may take. As on a full disk, writes that add something are refused while
// there is none. A nil room has no end.
type room struct {
	limit   int64
	full    atomic.Bool
	refused atomic.Int64
	deleted atomic.Bool // since the last compaction of all tables
}

func newRoom(limit int64) *room {
	if limit <= 0 {
		return nil
	}
	return &room{limit: limit}
}

// judge notes how much the tables take, and reports whether they should be compacted because something was deleted of
// full ones. Room is counted as free again when a sixteenth of it is.
func (r *room) judge(size int64, logf func(string, ...any)) (compact bool) {
	switch {
	case r == nil:
		return false
	case size >= r.limit && !r.full.Swap(true):
		logf("edgetable: the tables in memory take %d MiB, all that there is for them: writes are refused; reads and deletes work; delete entities, or give the server more memory", size>>20)
	case size < r.limit-r.limit/16 && r.full.Swap(false):
		logf("edgetable: there is memory for the tables again: writes are accepted")
	}
	return r.full.Load() && r.deleted.Swap(false)
}

// admit refuses a write that adds something, or remembers that there was a delete.
func (r *room) admit(deletes bool) error {
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

// refusals is how many writes were refused.
func (r *room) refusals() int64 {
	if r == nil {
		return 0
	}
	return r.refused.Load()
}

// isFull reports whether writes are refused.
func (r *room) isFull() bool { return r != nil && r.full.Load() }
