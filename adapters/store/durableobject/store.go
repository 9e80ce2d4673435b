package durableobject

import (
	"bytes"
	"strings"
	"sync"

	"edgetable/adapters/store/durableobject/internal/message"
	"edgetable/core/buckets"
	"edgetable/core/table"
)

// Store is a table.Store on Durable Objects. Use [New].
type Store struct {
	o       Options
	pause   Pauser // nil if the Caller is none
	layouts layouts
}

var _ table.Store = (*Store)(nil)

// New makes a store. It makes no calls.
func New(o Options) (*Store, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Store{o: o}
	s.pause, _ = o.Caller.(Pauser)
	s.layouts.guess = message.Layout{Buckets: o.Buckets, Location: o.Location}
	return s, nil
}

// layouts are those that tables had last, with the ranges of their buckets.
type layouts struct {
	guess message.Layout // for other tables

	mu    sync.Mutex
	seen  map[string]layout
	count int // of ranges
}

// layout is that which a table had last.
type layout struct {
	message.Layout
	ranges map[uint16]buckets.Ranges // of the buckets that have split
}

// maxLayouts and maxRanges bound the map; to learn a layout again costs one message.
const (
	maxLayouts = 1000
	maxRanges  = 2000
)

func (h *layouts) get(name string) layout {
	h.mu.Lock()
	defer h.mu.Unlock()
	if where, ok := h.seen[name]; ok {
		return where
	}
	return layout{Layout: h.guess}
}

func (h *layouts) put(name string, where message.Layout) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if seen, ok := h.seen[name]; ok && seen.Layout == where {
		return
	}
	if where == h.guess {
		delete(h.seen, name)
		return
	}
	// A string of a message would keep all of its memory.
	where.Location = strings.Clone(where.Location)
	h.set(name, layout{Layout: where})
}

func (h *layouts) set(name string, where layout) {
	if h.seen == nil || len(h.seen) >= maxLayouts || h.count > maxRanges {
		h.seen, h.count = make(map[string]layout), 0
	}
	h.seen[strings.Clone(name)] = where
}

// putRanges learns the ranges of a bucket.
func (h *layouts) putRanges(name string, where layout, moved *message.RangedError) {
	ranges := make(buckets.Ranges, len(moved.Ranges))
	for i, r := range moved.Ranges {
		ranges[i] = buckets.Range{ID: r.ID, Start: bytes.Clone(r.Start)}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	known := map[uint16]buckets.Ranges{moved.Bucket: ranges}
	if seen, ok := h.seen[name]; ok && seen.Layout == where.Layout {
		for bucket, r := range seen.ranges {
			if bucket != moved.Bucket {
				known[bucket] = r
			}
		}
	}
	h.count += len(ranges)
	h.set(name, layout{Layout: where.Layout, ranges: known})
}
