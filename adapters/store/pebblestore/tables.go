package pebblestore

import (
	"sync"
	"sync/atomic"

	"edgetable/core/table"
)

// life is one incarnation of a table under one name.
type life struct {
	incarnation table.Incarnation
	// dead is set before the batch that ends the life is applied: who reads and
	// then finds it unset has read before the end.
	dead atomic.Bool
}

// tables is the live incarnation of every table, by document key.
type tables struct {
	mu    sync.RWMutex
	live  map[string]*life
	named map[table.Incarnation]int // documents that name an incarnation
}

func newTables() *tables {
	return &tables{live: make(map[string]*life), named: make(map[table.Incarnation]int)}
}

// find returns nil if no incarnation of the table is live.
func (t *tables) find(key string) *life {
	t.mu.RLock()
	l := t.live[key]
	t.mu.RUnlock()
	return l
}

// set gives the name to the incarnation of a layout, or to none if it is zero.
func (t *tables) set(key string, l table.Layout) {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.live[key]
	if old != nil && hasTable(l) && old.incarnation == l.Incarnation {
		return
	}
	delete(t.live, key)
	if hasTable(l) {
		t.live[key] = &life{incarnation: l.Incarnation}
		t.named[l.Incarnation]++
	}
	if old != nil {
		if t.named[old.incarnation]--; t.named[old.incarnation] == 0 {
			delete(t.named, old.incarnation)
		}
		// After the name has gone, so that who finds it dead and looks again
		// does not find it again.
		old.dead.Store(true)
	}
}

// shared reports whether more than one document names the incarnation.
func (t *tables) shared(i table.Incarnation) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.named[i] > 1
}

// hasTable reports whether a document with this layout is the record of a table.
func hasTable(l table.Layout) bool { return l != table.Layout{} }
