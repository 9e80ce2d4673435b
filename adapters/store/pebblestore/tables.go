package pebblestore

import (
	"sync"
	"sync/atomic"

	"edgetable/adapters/store/pebblestore/internal/feedlog"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// life is one incarnation of a table under one name.
type life struct {
	incarnation table.Incarnation
	// dead is set before the batch that ends the incarnation is applied: if a reader
	// finds it unset after reading, it has read before the end.
	dead atomic.Bool
	// traits changes only while all stripes are locked. So a commit follows one declaration, and a read follows one
	// that was valid while it ran.
	traits atomic.Pointer[table.Traits]
	news   feedlog.News
}

// appendKey appends the key in the database of the entity with an encoded key.
func (l *life) appendKey(dst, k []byte) []byte {
	return append(appendPrefix(dst, l.incarnation), k...)
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

// begin makes the incarnation of a record live, with what the record declares, unless it is already live. An
// account's record has no incarnation.
func (t *tables) begin(r *table.Record) {
	if r.Key.Table == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.live[r.Key]
	if l == nil {
		l = &life{incarnation: r.Incarnation}
		t.live[r.Key] = l
	}
	l.traits.Store(r.Traits)
	l.news.Ring()
}

// tell notifies the clients that wait for changes of tables with these incarnations.
func (t *tables) tell(of map[table.Incarnation]edm.Ticks) {
	if len(of) == 0 {
		return
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, l := range t.live {
		if n := of[l.incarnation]; n > 0 {
			l.news.Tell(int64(n))
		}
	}
}

// judge returns the traits of a table, and the instant for a read that begins now. A table without traits needs no
// instant.
func (l *life) judge(clock *table.Clock) (t *table.Traits, now edm.Ticks) {
	if t = l.traits.Load(); t != nil {
		now = clock.Instant()
	}
	return t, now
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
		old.news.Ring()
	}
}
