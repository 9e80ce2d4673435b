package postgres

import (
	"sync"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// knownBytes is the approximate memory limit of the cache of known states.
const knownBytes = 16 << 20

// known caches the states of entities after writes, so that the next merge need not read the entity. If a cached
// state is old, the merge writes nothing and is repeated: its statement requires the Timestamp of the cached state,
// which no other state has.
type known struct {
	mu   sync.Mutex
	rows map[entity]table.Row
	size int
}

// entity identifies an entity by the name of its table and its key.
type entity struct{ name, key string }

func sizeOf(e entity, r *table.Row) int { return len(e.name) + len(e.key) + len(r.Properties) + 128 }

// get returns the cached state of an entity, or nil.
func (k *known) get(name string, key []byte) *table.Row {
	k.mu.Lock()
	defer k.mu.Unlock()
	row, ok := k.rows[entity{name, string(key)}]
	if !ok {
		return nil
	}
	row.Key = key
	return &row
}

// put caches the state of an entity after a write, and evicts others to make room.
func (k *known) put(w *write) {
	e := entity{w.name, string(w.key)}
	row := table.Row{Timestamp: w.ticks, Nonce: w.nonce, Properties: edm.Properties(w.properties)}
	k.mu.Lock()
	defer k.mu.Unlock()
	if old, ok := k.rows[e]; ok {
		k.size -= sizeOf(e, &old)
	} else if k.rows == nil {
		k.rows = make(map[entity]table.Row)
	}
	k.rows[e] = row
	k.size += sizeOf(e, &row)
	for other, row := range k.rows { // a map is iterated in random order
		if k.size <= knownBytes {
			break
		}
		delete(k.rows, other)
		k.size -= sizeOf(other, &row)
	}
}

// forget removes the state of an entity that was found to be old.
func (k *known) forget(name string, key []byte) {
	e := entity{name, string(key)}
	k.mu.Lock()
	defer k.mu.Unlock()
	if row, ok := k.rows[e]; ok {
		k.size -= sizeOf(e, &row)
		delete(k.rows, e)
	}
}
