package pebblestore

import (
	"sync"
	"sync/atomic"

	"edgetable/adapters/store/pebblestore/internal/feedlog"
	"edgetable/adapters/store/pebblestore/internal/layout"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// liveTable is one incarnation of a table, from its creation to its drop.
type liveTable struct {
	incarnation table.Incarnation
	// dropped is set before the batch that drops the table is applied. If dropped is not set after a read, the read has
	// seen the table before the drop.
	dropped atomic.Bool
	// traits are the declared options of the table. They change only while all stripes are held, and so never during a
	// commit.
	traits atomic.Pointer[table.Traits]
	news   feedlog.News
}

// appendKey appends the full key of an entity, which is its key in the database. k is the key without the incarnation.
func (l *liveTable) appendKey(dst, k []byte) []byte {
	return append(layout.AppendPrefix(dst, l.incarnation), k...)
}

// tables contains the live incarnation of each table. An incarnation is live until the table is dropped.
type tables struct {
	mu   sync.RWMutex
	live map[table.RecordKey]*liveTable
}

func newTables() *tables { return &tables{live: make(map[table.RecordKey]*liveTable)} }

// find returns the live incarnation of a table, or nil if the table does not exist.
func (t *tables) find(key table.RecordKey) *liveTable {
	t.mu.RLock()
	l := t.live[key]
	t.mu.RUnlock()
	return l
}

// setLive makes the incarnation in a table's record live, and sets its declared options (traits). It ignores the record
// of an account.
func (t *tables) setLive(r *table.Record) {
	if r.Key.Table == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.live[r.Key]
	if l == nil {
		l = &liveTable{incarnation: r.Incarnation}
		t.live[r.Key] = l
	}
	l.traits.Store(r.Traits)
	l.news.Ring()
}

// notifyWaiters wakes the clients that wait for changes of tables. The map contains the last commit number of each
// changed incarnation.
func (t *tables) notifyWaiters(of map[table.Incarnation]edm.Ticks) {
	if len(of) == 0 {
		return
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, l := range t.live {
		if n := of[l.incarnation]; n > 0 {
			l.news.Announce(int64(n))
		}
	}
}

// traitsAndTime returns the declared options (traits) of a table and the current time, for the expiry of entities. The
// time is 0 for a table without traits.
func (l *liveTable) traitsAndTime(clock *table.Clock) (t *table.Traits, now edm.Ticks) {
	if t = l.traits.Load(); t != nil {
		now = clock.Instant()
	}
	return t, now
}

// setDead removes the live incarnation of a table and marks it as dead.
func (t *tables) setDead(key table.RecordKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if old := t.live[key]; old != nil {
		delete(t.live, key)
		// dropped is set only after the map entry is deleted. A reader that sees dropped and looks up the table again
		// cannot find this incarnation.
		old.dropped.Store(true)
		old.news.Ring()
	}
}
