package pebblestore

import (
	"sync"
	"sync/atomic"

	"edgetable/core/table"
)

// life is one incarnation of a table under one name.
type life struct {
	incarnation table.Incarnation
	// dead is set before the batch that ends the life is applied: a reader that finds it
	// unset after reading has read before the end.
	dead atomic.Bool
}

// tables is the live incarnation of every table.
type tables struct {
	mu   sync.RWMutex
	live map[table.RecordKey]*life
}

func newTables() *tables { return &tables{live: make(map[table.RecordKey]*life)} }

// find returns nil if no incarnation of the table is live.
func (t *tables) find(key table.RecordKey) *life {
	t.mu.RLock()
	l := t.live[key]
	t.mu.RUnlock()
	return l
}

// begin makes an incarnation live, unless there is one already or the key is not
// that of a table.
func (t *tables) begin(key table.RecordKey, i table.Incarnation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if key.Table != "" && t.live[key] == nil {
		t.live[key] = &life{incarnation: i}
	}
}

// end ends the life of a table.
func (t *tables) end(key table.RecordKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if old := t.live[key]; old != nil {
		delete(t.live, key)
		// After the key is removed, so that a reader that finds the life dead and looks
		// it up again does not find it again.
		old.dead.Store(true)
	}
}
