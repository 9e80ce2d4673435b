package postgres

import (
	"sync"

	"edgetable/core/edm"
	"edgetable/core/table"
)

const knownBytes = 16 << 20

// known caches the states of entities after writes, so that the next merge need not read the entity. A cached state may be
// outdated. The statement of the merge requires the Timestamp of the cached state, and no other state of the entity has this
// Timestamp. So a merge with an outdated state writes nothing, and the store repeats the merge.
type known struct {
	mu   sync.Mutex
	rows map[entity]table.Row
	size int
}

// entity is the name of a table and the key of an entity in it.
type entity struct{ name, key string }

func sizeOf(e entity, r *table.Row) int { return len(e.name) + len(e.key) + len(r.Properties) + 128 }

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

// put caches the state of an entity after a write, and evicts random other entities if the cache is too large.
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
	for other, row := range k.rows {
		if k.size <= knownBytes {
			break
		}
		delete(k.rows, other)
		k.size -= sizeOf(other, &row)
	}
}

func (k *known) forget(name string, key []byte) {
	e := entity{name, string(key)}
	k.mu.Lock()
	defer k.mu.Unlock()
	if row, ok := k.rows[e]; ok {
		k.size -= sizeOf(e, &row)
		delete(k.rows, e)
	}
}
