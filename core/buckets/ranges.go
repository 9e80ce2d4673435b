package buckets

import (
	"bytes"
	"slices"
	"sort"

	"edgetable/core/key"
)

// Ranges lists the ranges of a bucket in key order. Each range ends where the next one starts; the last one has no end.
// Empty Ranges mean a single range with ID 0.
type Ranges []Range

// Range is one range of a bucket.
type Range struct {
	ID    uint32
	Start []byte // a position between two partitions
}

// all is the Ranges of a bucket that was never split.
var all = Ranges{{}}

// orAll returns m, or the variable all if m is empty.
func (m Ranges) orAll() Ranges {
	if len(m) == 0 {
		return all
	}
	return m
}

// Find returns the ID and the bounds of the range that contains the position k.
func (m Ranges) Find(k []byte) (id uint32, bounds key.Range) {
	m = m.orAll()
	i := sort.Search(len(m)-1, func(i int) bool { return bytes.Compare(m[i+1].Start, k) > 0 })
	return m[i].ID, m.bounds(i)
}

// Bounds returns the bounds of the range with the given ID. If m has no such range, ok is false.
func (m Ranges) Bounds(id uint32) (bounds key.Range, ok bool) {
	m = m.orAll()
	i := m.index(id)
	if i < 0 {
		return key.Range{}, false
	}
	return m.bounds(i), true
}

// index returns the index of a range in m, or -1.
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

// Split returns a copy of m in which the range with a given id (from) is divided at a position. The first part keeps
// this id, and the second part gets the new id. ok is false if this is not possible.
func (m Ranges) Split(from, id uint32, position []byte) (next Ranges, ok bool) {
	bounds, ok := m.Bounds(from)
	if _, known := m.Bounds(id); known || !ok || bytes.Equal(position, bounds.Start) || !bounds.Contains(position) {
		return m, false
	}
	m = slices.Clone(m.orAll())
	i := m.index(from) + 1
	m = append(m, Range{})
	copy(m[i+1:], m[i:])
	m[i] = Range{ID: id, Start: position}
	return m, true
}

// Join returns a copy of m without the range with the given id. The next range gets the keys of this range. ok is
// false if there is no such range or no next range.
func (m Ranges) Join(id uint32) (next Ranges, ok bool) {
	i := m.index(id)
	if i < 0 || i == len(m)-1 {
		return m, false
	}
	next = append(slices.Clone(m[:i]), m[i+1:]...)
	next[i].Start = m[i].Start
	return next, true
}

// Unsplit undoes [Ranges.Split]: the previous range gets the keys of the range with the given id. ok is false if there
// is no such range or no previous range.
func (m Ranges) Unsplit(id uint32) (before Ranges, ok bool) {
	i := m.index(id)
	if i <= 0 {
		return m, false
	}
	return append(slices.Clone(m[:i]), m[i+1:]...), true
}

// Unjoin undoes [Ranges.Join]: it inserts a range with the given id and keys, which Join removed. The next range,
// which got these keys from Join, loses them again. ok is false if m is not the result of such a Join.
func (m Ranges) Unjoin(id uint32, keys key.Range) (before Ranges, ok bool) {
	m = slices.Clone(m.orAll())
	for i := range m {
		if !bytes.Equal(m[i].Start, keys.Start) || m.index(id) >= 0 || keys.End == nil || keys.Empty() || !m.bounds(i).Contains(keys.End) {
			continue
		}
		m[i].Start = keys.End
		return slices.Insert(m, i, Range{ID: id, Start: keys.Start}), true
	}
	return m, false
}

// Excerpt returns an excerpt of m of about the given size in bytes: the range with the position k, and ranges on either
// side. Its outer bounds may be wrong.
func (m Ranges) Excerpt(k []byte, maxSize int) Ranges {
	m = m.orAll()
	id, _ := m.Find(k)
	i := m.index(id)
	from, to := i, i+1
	for size := 0; (from > 0 || to < len(m)) && (size < maxSize || to-from == 1); {
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

// sizeOfRange is the maximum size of an encoded range in bytes, without its Start.
const sizeOfRange = 8

// WithExcerpt returns a copy of m in which excerpt, which is newer, replaces the ranges around the position k. The
// excerpt is from [Ranges.Excerpt]. The result does not share memory with it.
func (m Ranges) WithExcerpt(excerpt Ranges, k []byte) Ranges {
	last := len(excerpt) - 1
	id, bounds := excerpt.Find(k)
	at := excerpt.index(id)
	if len(m) == 0 || at < 0 {
		return excerpt.clone(0, last+1)
	}
	// The bounds at both ends of the excerpt may be wrong. So use only the ranges from its second Start to its last
	// Start, and the range that contains k.
	first := min(1, at)
	from, to := excerpt[first].Start, excerpt[last].Start
	next := Ranges{}
	for _, r := range m {
		if bytes.Compare(r.Start, from) < 0 {
			next = append(next, r)
		}
	}
	next = append(next, excerpt.clone(first, last+1)...)
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

func (m Ranges) clone(from, to int) Ranges {
	part := make(Ranges, 0, to-from)
	for _, r := range m[from:to] {
		part = append(part, Range{ID: r.ID, Start: bytes.Clone(r.Start)})
	}
	return part
}

// Valid reports whether m is well-formed: the first Start is empty, the Starts ascend and the IDs are unique.
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
