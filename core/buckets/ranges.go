package buckets

import (
	"bytes"
	"slices"
	"sort"

	"edgetable/core/key"
)

// Ranges is the map of the ranges of a bucket, in the order of their keys: each begins
// at its Start and ends where the next one begins, the last one never. The first Start is
// empty. A bucket that never split has no Ranges: it is one range with the ID 0.
type Ranges []Range

// Range is one range of a bucket.
type Range struct {
	ID    uint32
	Start []byte // a position between two partitions
}

// all is the map of a bucket that never split.
var all = Ranges{{}}

// orAll is the map with all its ranges.
func (m Ranges) orAll() Ranges {
	if len(m) == 0 {
		return all
	}
	return m
}

// Find returns the range of a position, and its bounds.
func (m Ranges) Find(k []byte) (id uint32, bounds key.Range) {
	m = m.orAll()
	i := sort.Search(len(m)-1, func(i int) bool { return bytes.Compare(m[i+1].Start, k) > 0 })
	return m[i].ID, m.bounds(i)
}

// Bounds returns the bounds of a range. ok is false if the map does not have it.
func (m Ranges) Bounds(id uint32) (bounds key.Range, ok bool) {
	m = m.orAll()
	i := m.index(id)
	if i < 0 {
		return key.Range{}, false
	}
	return m.bounds(i), true
}

// index is the place of a range in the map, -1 if it is not there.
func (m Ranges) index(id uint32) int {
	return slices.IndexFunc(m, func(r Range) bool { return r.ID == id })
}

func (m Ranges) bounds(i int) key.Range {
	r := key.Range{Start: m[i].Start}
	if i+1 < len(m) {
		r.End = m[i+1].Start
	}
	return r
}

// Split returns a map in which the range of from ends at a position, and a new one
// begins there. ok is false if the position does not lie behind the Start of from and
// before its end.
func (m Ranges) Split(from, id uint32, at []byte) (next Ranges, ok bool) {
	bounds, ok := m.Bounds(from)
	if _, known := m.Bounds(id); known || !ok || bytes.Equal(at, bounds.Start) || !bounds.Contains(at) {
		return m, false
	}
	m = slices.Clone(m.orAll())
	i := m.index(from) + 1
	m = append(m, Range{})
	copy(m[i+1:], m[i:])
	m[i] = Range{ID: id, Start: at}
	return m, true
}

// Leave returns a map without a range, whose keys its right neighbour has. ok is false
// if it is the last one, or not in the map.
func (m Ranges) Leave(id uint32) (next Ranges, ok bool) {
	i := m.index(id)
	if i < 0 || i == len(m)-1 {
		return m, false
	}
	next = append(slices.Clone(m[:i]), m[i+1:]...)
	next[i].Start = m[i].Start
	return next, true
}

// Unsplit returns the map from before Split: the left neighbour of a range has its keys.
func (m Ranges) Unsplit(id uint32) (before Ranges, ok bool) {
	i := m.index(id)
	if i <= 0 {
		return m, false
	}
	return append(slices.Clone(m[:i]), m[i+1:]...), true
}

// Unleave returns the map from before Leave: a range has the first keys of another one,
// which begins where they end.
func (m Ranges) Unleave(id uint32, keys key.Range) (before Ranges, ok bool) {
	m = slices.Clone(m.orAll())
	for i := range m {
		if !bytes.Equal(m[i].Start, keys.Start) || m.index(id) >= 0 || keys.End == nil || !m.bounds(i).Contains(keys.End) {
			continue
		}
		m[i].Start = keys.End
		return slices.Insert(m, i, Range{ID: id, Start: keys.Start}), true
	}
	return m, false
}

// Near returns the map around a position: about as many ranges as fit into a number of bytes,
// and at least one on either side. The first of them begins where all keys begin, and the last
// one has no end, so that it is well-formed; [Ranges.Learn] knows that.
func (m Ranges) Near(k []byte, most int) Ranges {
	m = m.orAll()
	id, _ := m.Find(k)
	i := m.index(id)
	from, to := i, i+1
	for size := 0; (from > 0 || to < len(m)) && (size < most || to-from == 1); {
		if from > 0 {
			from--
			size += sizeOfRange + len(m[from].Start)
		}
		if to < len(m) {
			size += sizeOfRange + len(m[to].Start)
			to++
		}
	}
	near := slices.Clone(m[from:to])
	near[0].Start = nil
	return near
}

// sizeOfRange is what a range takes in a message in addition to its Start, at most.
const sizeOfRange = 8

// Learn returns the map with what is known around a position, see [Ranges.Near]. It keeps
// nothing of near.
func (m Ranges) Learn(near Ranges, k []byte) Ranges {
	last := len(near) - 1
	id, bounds := near.Find(k)
	at := near.index(id)
	if len(m) == 0 || at < 0 {
		return near.clone(0, last+1)
	}
	// What is certain is what lies between two of the starts, and the range of the position.
	first := min(1, at)
	from, to := near[first].Start, near[last].Start
	next := Ranges{}
	for _, r := range m {
		if bytes.Compare(r.Start, from) < 0 {
			next = append(next, r)
		}
	}
	next = append(next, near.clone(first, last+1)...)
	if bounds.End == nil {
		return next
	}
	for _, r := range m {
		if bytes.Compare(r.Start, to) > 0 {
			next = append(next, r)
		}
	}
	return next
}

// clone is a part of the map in memory of its own.
func (m Ranges) clone(from, to int) Ranges {
	part := make(Ranges, 0, to-from)
	for _, r := range m[from:to] {
		part = append(part, Range{ID: r.ID, Start: bytes.Clone(r.Start)})
	}
	return part
}

// Valid reports whether the map is well-formed.
func (m Ranges) Valid() bool {
	for i, r := range m {
		if i == 0 && len(r.Start) > 0 || i > 0 && bytes.Compare(m[i-1].Start, r.Start) >= 0 {
			return false
		}
		if m[:i].index(r.ID) >= 0 {
			return false
		}
	}
	return true
}
