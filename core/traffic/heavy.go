package traffic

import (
	"cmp"
	"slices"
	"strings"
)

const (
	heaviest = 256 // maximum number of partitions in a list
	maxName  = 128 // maximum length of a stored name, in bytes
)

// Entry is one partition in a list of the heaviest partitions. The true count is between Count-Error and Count.
type Entry struct {
	Partition string `json:"partition"` // name of the partition, truncated to 128 bytes
	Hash      uint64 `json:"-"`
	Count     uint64 `json:"count"`
	Error     uint64 `json:"error"`
}

// heavy finds the partitions with the highest counts, by the Space-Saving algorithm (Metwally, Agrawal, El Abbadi,
// 2005), extended by weights. If all counters are in use, a new partition continues the counter with the lowest count.
type heavy struct {
	room  int // maximum number of counters
	slots []slot
	order []int32          // indexes into slots, as a heap with the lowest count at the root
	at    map[uint64]int32 // index into slots, by the hash of a partition
	total uint64
}

// slot is the counter of one partition. When another partition takes over the counter, the new name is written into the
// memory of the old name.
type slot struct {
	hash, count, err uint64
	place            int32 // index of this counter in the heap (heavy.order)
	name             []byte
}

// hash returns the 64-bit FNV-1a hash that identifies a partition.
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
		s := &h.slots[i]
		s.count += n
		h.down(s.place)
		return
	}
	name = name[:min(len(name), maxName)]
	if len(h.slots) < h.room {
		h.append(slot{hash: id, count: n, name: []byte(name)})
		return
	}
	i := h.order[0]
	least := &h.slots[i]
	delete(h.at, least.hash)
	h.at[id] = i
	*least = slot{hash: id, count: least.count + n, err: least.count, name: append(least.name[:0], name...)}
	h.down(0)
}

func (h *heavy) append(s slot) {
	if h.at == nil {
		h.at = make(map[uint64]int32)
	}
	i := int32(len(h.slots))
	h.slots = append(h.slots, s)
	h.order = append(h.order, i)
	h.at[s.hash] = i
	h.up(i)
}

// count returns the count of the partition at an index of the heap h.order.
func (h *heavy) count(place int32) uint64 { return h.slots[h.order[place]].count }

func (h *heavy) up(i int32) {
	slot := h.order[i]
	n := h.slots[slot].count
	for i > 0 && n < h.count((i-1)/2) {
		h.put(i, h.order[(i-1)/2])
		i = (i - 1) / 2
	}
	h.put(i, slot)
}

func (h *heavy) down(i int32) {
	slot, end := h.order[i], int32(len(h.order))
	n := h.slots[slot].count
	for {
		child := 2*i + 1
		if child+1 < end && h.count(child+1) < h.count(child) {
			child++
		}
		if child >= end || n <= h.count(child) {
			break
		}
		h.put(i, h.order[child])
		i = child
	}
	h.put(i, slot)
}

func (h *heavy) put(place, slot int32) {
	h.order[place] = slot
	h.slots[slot].place = place
}

// Heavy is a list of the heaviest partitions, in descending order.
type Heavy struct {
	Total   uint64  `json:"total"` // sum over all partitions, including partitions that are not in Entries
	Entries []Entry `json:"partitions"`
}

func (h *heavy) save() Heavy {
	saved := Heavy{Total: h.total, Entries: make([]Entry, 0, len(h.slots))}
	for i := range h.slots {
		s := &h.slots[i]
		saved.insert(Entry{string(s.name), s.hash, s.count, s.err})
	}
	return saved
}

func (h *Heavy) insert(e Entry) {
	i, _ := slices.BinarySearchFunc(h.Entries, e, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Partition, b.Partition))
	})
	h.Entries = slices.Insert(h.Entries, i, e)
}

// floor returns an upper bound for the count of each partition that is not in h.Entries. The parameter room is the
// maximum length of h.Entries.
func (h Heavy) floor(room int) uint64 {
	if len(h.Entries) < room {
		return 0
	}
	return h.Entries[len(h.Entries)-1].Count
}

// merge returns the heaviest partitions of two lists, which each have at most the given number of partitions. The
// counts and errors of the result are still valid bounds.
func (h Heavy) merge(o Heavy, room int) Heavy {
	if o.Total == 0 {
		return h
	}
	here, there := h.floor(room), o.floor(room)
	merged := Heavy{Total: h.Total + o.Total}
	for _, e := range h.Entries {
		if other := o.find(e.Hash); other != nil {
			e.Count, e.Error = e.Count+other.Count, e.Error+other.Error
		} else {
			e.Count, e.Error = e.Count+there, e.Error+there
		}
		merged.insert(e)
	}
	for _, e := range o.Entries {
		if h.find(e.Hash) == nil {
			e.Count, e.Error = e.Count+here, e.Error+here
			merged.insert(e)
		}
	}
	merged.Entries = merged.Entries[:min(len(merged.Entries), room)]
	return merged
}

func (h *Heavy) find(hash uint64) *Entry {
	for i := range h.Entries {
		if e := &h.Entries[i]; e.Hash == hash {
			return e
		}
	}
	return nil
}

// restore is the inverse of save.
func (h *heavy) restore(s *Heavy) {
	h.total = s.Total
	for _, e := range s.Entries {
		if _, twice := h.at[e.Hash]; !twice && len(h.slots) < h.room {
			h.append(slot{hash: e.Hash, count: e.Count, err: e.Error, name: []byte(e.Partition)})
		}
	}
}
