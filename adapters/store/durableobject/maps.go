package durableobject

import (
	"strings"
	"sync"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/buckets"
)

// Maps remembers which layout tables had last, and which ranges had which keys. It may be
// wrong: the objects answer where a key is, and then it learns.
//
// All Stores of a process can share one. It takes bytes, because in a Worker they are in other
// instances of the module.
type Maps struct {
	guess message.Layout // of tables that it does not know

	mu     sync.Mutex
	tables map[string]*mapOfTable
	size   int
	uses   uint64
}

// mapOfTable is what is known about a table.
type mapOfTable struct {
	message.Layout
	ranges map[uint16]buckets.Ranges // of the buckets that have split
	size   int                       // about, in bytes
	used   uint64
}

// mostOfMaps bounds the memory of maps, about, in bytes: it is 16 tables of 250 ranges with
// keys of 200 bytes. To learn a map again costs messages.
const (
	mostOfMaps  = 1 << 20
	sizeOfMap   = 200 // in addition to its ranges
	sizeOfRange = 40  // in addition to its key
)

// NewMaps makes an empty memory, for Stores with the same options for new tables.
func NewMaps(o Options) *Maps {
	return &Maps{guess: message.Layout{Buckets: max(o.Buckets, 1), Location: o.Location}, tables: make(map[string]*mapOfTable)}
}

// Ask answers a question of a Store, and retains nothing of it.
func (h *Maps) Ask(question []byte) (answer []byte) {
	r := message.Read(question)
	w := r.Where()
	if !r.Done() {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch w.What {
	case message.FindRange:
		return h.find(&w)
	case message.LearnLayout:
		h.learn(&w)
	case message.LearnRanges:
		known := h.learn(&w)
		if known == nil {
			known = h.add(w.Table, w.Layout)
		}
		if known.ranges == nil {
			known.ranges = make(map[uint16]buckets.Ranges)
		}
		known.ranges[w.Bucket] = known.ranges[w.Bucket].Learn(w.Near, w.Position)
		h.measure(known)
	}
	return nil
}

// find answers the destination of a position.
func (h *Maps) find(w *message.Where) []byte {
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

// learn learns a layout. It returns what is known about the table, nil if that is the guess.
func (h *Maps) learn(w *message.Where) *mapOfTable {
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
	// A string of a message would keep all of its memory.
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

// measure counts what is known about a table, and forgets those that were not asked for the
// longest time.
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
