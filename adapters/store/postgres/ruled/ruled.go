// Package ruled caches the options of tables, for example expiry rules. Statements read them from the records.
package ruled

import (
	"fmt"
	"sync"
	"sync/atomic"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// Table contains the options of a table. A nil *Table means that the table has no options.
type Table struct {
	// Revision is the revision of the record. Statements that depend on the options (traits) have the revision as an
	// argument. They find nothing if the record has changed since.
	Revision edm.Ticks
	Traits   *table.Traits
	// The flag Large is set when a scan has found large entities in the table. Later scans then read the complete large entities,
	// not only their lengths, because a length does not show whether the entity has expired.
	Large atomic.Bool
}

// Ends reports whether entities of the table can expire.
func (t *Table) Ends() bool {
	return t != nil && (t.Traits.Expiry != nil || t.Traits.Ending != nil)
}

// Rules returns the options (traits) of the table, or nil if it has none.
func (t *Table) Rules() *table.Traits {
	if t == nil {
		return nil
	}
	return t.Traits
}

// Tables caches the options of all tables that have options. If an entry is out of date, a statement finds nothing,
// and the server then reads the record again.
type Tables struct {
	mu   sync.RWMutex
	list map[string]*Table
}

// Find returns the cached options of a table, or nil.
func (t *Tables) Find(name string) *Table {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.list[name]
}

// None reports whether the cache is empty.
func (t *Tables) None() bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.list) == 0
}

// Note stores the options of a table, and the revision of the record, in the cache. The argument stored encodes the options; nil means no options.
func (t *Tables) Note(name string, revision edm.Ticks, stored []byte) (*Table, error) {
	if stored == nil {
		t.Forget(name)
		return nil, nil
	}
	if known := t.Find(name); known != nil && known.Revision == revision {
		return known, nil
	}
	traits, err := Parse(name, stored)
	if err != nil {
		return nil, err
	}
	now := &Table{Revision: revision, Traits: traits}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.list == nil {
		t.list = make(map[string]*Table)
	}
	t.list[name] = now
	return now, nil
}

// Forget removes a table that has no options any more, or does not exist any more.
func (t *Tables) Forget(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.list, name)
}

// Stored encodes the options of a table (traits) for the record of the table. The encoding is that of package table for a
// record that has only traits. If t is nil, the result is nil.
func Stored(t *table.Traits) []byte {
	if t == nil {
		return nil
	}
	return table.AppendRecord(nil, &table.Record{Traits: t}, 0)
}

// Parse is the inverse of Stored. It returns an error for options that a newer version of edgetable has stored.
func Parse(name string, stored []byte) (*table.Traits, error) {
	if stored == nil {
		return nil, nil
	}
	r, err := table.ParseRecord(name, stored)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r.Traits, nil
}
