package pebblestore

import (
	"sync"
	"sync/atomic"

	"edgetable/core/table"
)

// life is one incarnation of a table under one name.
type life struct {
	incarnation table.Incarnation
	// dead is set before the batch that ends the incarnation is applied: if a reader
	// finds it unset after reading, it has read before the end.
	dead atomic.Bool
}

// tables holds the live incarnation of every table.
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

// begin makes an incarnation live, unless one is live already or the key is not
// of a table.
func (t *tables) begin(key table.RecordKey, i table.Incarnation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if key.Table != "" && t.live[key] == nil {
		t.live[key] = &life{incarnation: i}
	}
}

// end ends the live incarnation of a table.
func (t *tables) end(key table.RecordKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if old := t.live[key]; old != nil {
		delete(t.live, key)
		// Set dead after the key is removed, so that a reader that finds it set and
		// looks the table up again does not find the same life.
		old.dead.Store(true)
	}
}
