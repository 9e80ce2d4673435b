// Package ruled caches the options of tables, for example expiry rules. The options are read from the tables' records.
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
	// Revision is the revision of the record. A statement with this revision as an argument finds nothing if the record
	// has changed.
	Revision edm.Ticks
	Traits   *table.Traits
	// Large is set when a scan has found large entities. Later scans read the properties of large entities, which show
	// whether the entity has expired.
	Large atomic.Bool
}

// Ends returns true if entities of the table can expire.
func (t *Table) Ends() bool {
	return t != nil && (t.Traits.Expiry != nil || t.Traits.Ending != nil)
}

// Rules returns the options of the table, or nil if it has none.
func (t *Table) Rules() *table.Traits {
	if t == nil {
		return nil
	}
	return t.Traits
}

// Tables caches the options of all tables that have options. It is safe for concurrent use. A statement with an
// outdated revision finds nothing, and the server reads the record again.
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

// None returns true if the cache is empty.
func (t *Tables) None() bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.list) == 0
}

// Note caches the options of a table and returns the cache entry. The parameter stored is the encoded form of the
// options. If stored is nil, the table has no options, and Note returns nil.
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

// Forget removes a table that no longer has options or no longer exists.
func (t *Tables) Forget(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.list, name)
}

// Stored encodes the options of a table for its record, in the form of a record that has no other fields. If t is nil,
// the result is nil.
func Stored(t *table.Traits) []byte {
	if t == nil {
		return nil
	}
	return table.AppendRecord(nil, &table.Record{Traits: t}, 0)
}

// Parse is the inverse of Stored. It returns an error if a newer version of edgetable has stored the options.
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
