package traffic

import "slices"

const (
	heaviest = 256 // partitions of a list
	maxName  = 128 // bytes of a name that are kept
)

// Entry is a partition in a list of the heaviest. Its true count is at most
// Count and at least Count-Error.
type Entry struct {
	Partition string `json:"partition"` // cut after 128 bytes
	Hash      uint64 `json:"-"`
	Count     uint64 `json:"count"`
	Error     uint64 `json:"error"`
}

// heavy finds the partitions with the highest counts, by Space-Saving (Metwally,
// Agrawal, El Abbadi, 2005) with weights: it has 256 counters, and a partition
// without one takes over the smallest. So a partition with more than a 256th of
// the total is always in the list.
type heavy struct {
	list  []slot // a heap: no count is below that of its parent
	at    map[uint64]int32
	total uint64
}

// slot is a counter. Its name keeps its memory when the slot is taken over.
type slot struct {
	hash, count, err uint64
	name             []byte
}

// hash names a partition in 64 bits (FNV-1a).
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

func (h *heavy) add(id uint64, name string, n uint64) {
	if n == 0 {
		return
	}
	h.total += n
	if i, ok := h.at[id]; ok {
		h.list[i].count += n
		h.down(int(i))
		return
	}
	name = name[:min(len(name), maxName)]
	if len(h.list) < heaviest {
		if h.at == nil {
			h.at = make(map[uint64]int32)
		}
		h.list = append(h.list, slot{hash: id, count: n, name: []byte(name)})
		h.at[id] = int32(len(h.list) - 1)
		h.up(len(h.list) - 1)
		return
	}
	least := &h.list[0]
	delete(h.at, least.hash)
	h.at[id] = 0
	*least = slot{hash: id, count: least.count + n, err: least.count, name: append(least.name[:0], name...)}
	h.down(0)
}

func (h *heavy) up(i int) {
	for i > 0 && h.list[i].count < h.list[(i-1)/2].count {
		h.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (h *heavy) down(i int) {
	for {
		child := 2*i + 1
		if child+1 < len(h.list) && h.list[child+1].count < h.list[child].count {
			child++
		}
		if child >= len(h.list) || h.list[i].count <= h.list[child].count {
			return
		}
		h.swap(i, child)
		i = child
	}
}

func (h *heavy) swap(i, j int) {
	h.list[i], h.list[j] = h.list[j], h.list[i]
	h.at[h.list[i].hash], h.at[h.list[j].hash] = int32(i), int32(j)
}

// Heavy is a list of the heaviest partitions, the heaviest first.
type Heavy struct {
	Total   uint64  `json:"total"` // of all partitions
	Entries []Entry `json:"partitions"`
}

func (h *heavy) save() Heavy {
	saved := Heavy{Total: h.total, Entries: make([]Entry, len(h.list))}
	for i, s := range h.list {
		saved.Entries[i] = Entry{string(s.name), s.hash, s.count, s.err}
	}
	saved.sort()
	return saved
}

func (h Heavy) sort() {
	slices.SortFunc(h.Entries, func(a, b Entry) int {
		switch {
		case a.Count != b.Count:
			return cmp(b.Count, a.Count)
		case a.Partition < b.Partition:
			return -1
		}
		return 1
	})
}

func cmp(a, b uint64) int {
	if a < b {
		return -1
	}
	return 1
}

// floor returns the count that a partition which is not in the list may have.
func (h Heavy) floor() uint64 {
	if len(h.Entries) < heaviest {
		return 0
	}
	return h.Entries[len(h.Entries)-1].Count
}

// merge returns the heaviest partitions of two lists together. The bounds of the
// counts stay true.
func (h Heavy) merge(o Heavy) Heavy {
	if o.Total == 0 {
		return h
	}
	all := make(map[uint64]Entry)
	for _, e := range h.Entries {
		e.Count, e.Error = e.Count+o.floor(), e.Error+o.floor()
		all[e.Hash] = e
	}
	for _, e := range o.Entries {
		sum, both := all[e.Hash]
		if !both {
			e.Count, e.Error = e.Count+h.floor(), e.Error+h.floor()
			all[e.Hash] = e
			continue
		}
		sum.Count, sum.Error = sum.Count-o.floor()+e.Count, sum.Error-o.floor()+e.Error
		all[e.Hash] = sum
	}
	merged := Heavy{Total: h.Total + o.Total}
	for _, e := range all {
		merged.Entries = append(merged.Entries, e)
	}
	merged.sort()
	merged.Entries = merged.Entries[:min(len(merged.Entries), heaviest)]
	return merged
}

// restore is the inverse of save.
func (h Heavy) restore() heavy {
	r := heavy{total: h.Total, at: make(map[uint64]int32)}
	for i := len(h.Entries) - 1; i >= 0; i-- { // ascending, which is a heap
		e := h.Entries[i]
		if _, twice := r.at[e.Hash]; twice || len(r.list) == heaviest {
			continue
		}
		r.at[e.Hash] = int32(len(r.list))
		r.list = append(r.list, slot{e.Hash, e.Count, e.Error, []byte(e.Partition)})
	}
	return r
}
