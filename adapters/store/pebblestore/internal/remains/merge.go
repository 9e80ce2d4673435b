package remains

import (
	"bytes"
	"container/heap"
)

// source returns versions of keys in key order, for example from one file.
type source interface{ next() (Version, bool) }

// list is a source of versions in memory.
type list []Version

func (l *list) next() (v Version, ok bool) {
	if len(*l) == 0 {
		return v, false
	}
	v, *l = (*l)[0], (*l)[1:]
	return v, true
}

// merge is a heap of sources, ordered by the next version of each source.
type merge []head

type head struct {
	Version
	from source
}

func (m merge) Len() int           { return len(m) }
func (m merge) Less(i, j int) bool { return compare(m[i].Version, m[j].Version) < 0 }
func (m merge) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *merge) Push(x any)        { *m = append(*m, x.(head)) }
func (m *merge) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}

func newMerge(sources []source) (m merge) {
	for _, s := range sources {
		if v, ok := s.next(); ok {
			m = append(m, head{v, s})
		}
	}
	heap.Init(&m)
	return m
}

// Next returns all versions of the next key that begins with the byte space, or nil if there is no such key. It skips
// keys with a lower first byte.
func (s *Store) Next(space byte) (versions []Version) {
	for len(s.merge) > 0 {
		first := &s.merge[0]
		v := first.Version
		if len(v.Key) > 0 && v.Key[0] > space || versions != nil && !bytes.Equal(v.Key, versions[0].Key) {
			return versions
		}
		if len(v.Key) > 0 && v.Key[0] == space {
			versions = append(versions, v)
		}
		if next, ok := first.from.next(); ok {
			first.Version = next
			heap.Fix(&s.merge, 0)
		} else {
			heap.Pop(&s.merge)
		}
	}
	return versions
}
