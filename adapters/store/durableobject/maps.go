package durableobject

import (
	"strings"
	"sync"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/buckets"
)

// Maps is a cache of the layouts and ranges of tables. If an entry is out of date, a Store asks the wrong object, whose
// answer corrects the cache.
//
// All Stores of a process can share one Maps. Ask takes and returns bytes, because the Stores may be in other instances
// of the wasm module.
type Maps struct {
	guess message.Layout // the assumed layout of unknown tables

	mu     sync.Mutex
	tables map[string]*mapOfTable
	size   int
	uses   uint64
}

type mapOfTable struct {
	message.Layout
	ranges map[uint16]buckets.Ranges // the ranges of each bucket that has split
	size   int                       // approximate size in bytes
	used   uint64
}

// mostOfMaps is the approximate maximum size of the cache in bytes. It has room for 16 tables of 250 ranges with keys
// of 200 bytes.
const (
	mostOfMaps  = 1 << 20
	sizeOfMap   = 200 // memory for a table, without its ranges
	sizeOfRange = 40  // memory for a range, without its key
)

// NewMaps returns an empty cache. All Stores that share the cache must have the same options for new tables.
func NewMaps(o Options) *Maps {
	return &Maps{guess: message.Layout{Buckets: max(o.Buckets, 1), Location: o.Location}, tables: make(map[string]*mapOfTable)}
}

// Ask executes an encoded request of a Store: it finds a range, or stores a layout or ranges. It does not retain the
// bytes of the request.
func (h *Maps) Ask(question []byte) (answer []byte) {
	r := message.Read(question)
	w := r.CacheRequest()
	if !r.Done() {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch w.Kind {
	case message.FindRange:
		return h.find(&w)
	case message.LearnLayout:
		h.store(&w)
	case message.LearnRanges:
		known := h.store(&w)
		if known == nil {
			known = h.add(w.Table, w.Layout)
		}
		if known.ranges == nil {
			known.ranges = make(map[uint16]buckets.Ranges)
		}
		known.ranges[w.Bucket] = known.ranges[w.Bucket].WithExcerpt(w.Excerpt, w.Position)
		h.measure(known)
	}
	return nil
}

func (h *Maps) find(w *message.CacheRequest) []byte {
	known := h.tables[w.Table]
	w.Layout = h.guess
	if known != nil {
		w.Layout = known.Layout
		h.uses++
		known.used = h.uses
	}
	if w.OfKey {
		w.Bucket = buckets.OfKey(w.Position, w.Layout.Buckets)
	}
	p := w.Destination()
	if known != nil {
		p.Range, _ = known.ranges[w.Bucket].Find(w.Position)
	}
	return message.AppendFoundRange(nil, &p)
}

// store stores the layout of a table and returns the table's entry, or nil if the layout is the assumed one, which
// needs no entry.
func (h *Maps) store(w *message.CacheRequest) *mapOfTable {
	known := h.tables[w.Table]
	if known != nil && known.Layout == w.Layout {
		return known
	}
	if known != nil {
		h.forget(w.Table)
	}
	if w.Layout == h.guess {
		return nil
	}
	return h.add(w.Table, w.Layout)
}

func (h *Maps) add(name string, where message.Layout) *mapOfTable {
	// clone the location, because a substring would keep the whole message in memory
	where.Location = strings.Clone(where.Location)
	known := &mapOfTable{Layout: where}
	h.tables[strings.Clone(name)] = known
	h.measure(known)
	return known
}

func (h *Maps) forget(name string) {
	h.size -= h.tables[name].size
	delete(h.tables, name)
}

// measure updates the size of an entry, and evicts the least recently used tables while the cache is too large.
func (h *Maps) measure(known *mapOfTable) {
	h.size -= known.size
	known.size = sizeOfMap
	for _, ranges := range known.ranges {
		for _, r := range ranges {
			known.size += sizeOfRange + len(r.Start)
		}
	}
	h.size += known.size
	h.uses++
	known.used = h.uses
	for h.size > mostOfMaps && len(h.tables) > 1 {
		oldest := ""
		for name, m := range h.tables {
			if oldest == "" || m.used < h.tables[oldest].used {
				oldest = name
			}
		}
		h.forget(oldest)
	}
}
