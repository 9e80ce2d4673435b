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
	o     Options
	pause Pauser // nil if the Caller is none
	homes homes
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
	s.homes.guess = message.Home{Buckets: o.Buckets, Location: o.Location}
	return s, nil
}

// homes are the places where tables were last found, and the ranges of their buckets.
type homes struct {
	guess message.Home // for other tables

	mu    sync.Mutex
	seen  map[string]home
	count int // of ranges
}

// home is where a table was last found.
type home struct {
	message.Home
	ranges map[uint16]buckets.Ranges // of the buckets that have split
}

// maxHomes and maxRanges bound the map; to learn a place again costs one message.
const (
	maxHomes  = 1000
	maxRanges = 2000
)

func (h *homes) get(name string) home {
	h.mu.Lock()
	defer h.mu.Unlock()
	if home, ok := h.seen[name]; ok {
		return home
	}
	return home{Home: h.guess}
}

func (h *homes) put(name string, where message.Home) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if seen, ok := h.seen[name]; ok && seen.Home == where {
		return
	}
	if where == h.guess {
		delete(h.seen, name)
		return
	}
	// A string of a message would keep all of its memory.
	where.Location = strings.Clone(where.Location)
	h.set(name, home{Home: where})
}

func (h *homes) set(name string, where home) {
	if h.seen == nil || len(h.seen) >= maxHomes || h.count > maxRanges {
		h.seen, h.count = make(map[string]home), 0
	}
	h.seen[strings.Clone(name)] = where
}

// putRanges learns the ranges of a bucket.
func (h *homes) putRanges(name string, where home, moved *message.RangedError) {
	ranges := make(buckets.Ranges, len(moved.Ranges))
	for i, r := range moved.Ranges {
		ranges[i] = buckets.Range{ID: r.ID, Start: bytes.Clone(r.Start)}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	known := map[uint16]buckets.Ranges{moved.Bucket: ranges}
	if seen, ok := h.seen[name]; ok && seen.Home == where.Home {
		for bucket, r := range seen.ranges {
			if bucket != moved.Bucket {
				known[bucket] = r
			}
		}
	}
	h.count += len(ranges)
	h.set(name, home{Home: where.Home, ranges: known})
}
