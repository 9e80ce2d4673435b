package pebblestore

import (
	"bytes"
	"cmp"
	"container/heap"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"

	"edgetable/core/edm"
	"edgetable/core/table"
)

// stamp says when a version was written. A data file on the lowest level has no sequence
// numbers, and only a log and a value have Timestamps.
type stamp struct {
	sequence uint64
	at       edm.Ticks
}

// deletes reports whether a deletion at d applies to a version that was written at v.
func (d stamp) deletes(v stamp) bool {
	switch {
	case d.at > 0 && v.at > 0:
		return d.at > v.at
	case v.sequence > 0:
		return d.sequence > v.sequence
	}
	return true // a version is moved to the lowest level when all are older than the deletion
}

// version is one version of a key, in a data file or a log.
type version struct {
	key, value []byte
	kind       pebble.InternalKeyKind
	stamp      stamp
}

func compare(a, b version) int {
	return cmp.Or(bytes.Compare(a.key, b.key), -cmp.Compare(a.stamp.sequence, b.stamp.sequence))
}

// source gives versions in the order of their keys.
type source interface{ next() (version, bool) }

// list is a source.
type list []version

func (l *list) next() (v version, ok bool) {
	if len(*l) == 0 {
		return v, false
	}
	v, *l = (*l)[0], (*l)[1:]
	return v, true
}

// commit adds the changes of one record of a log.
func (r *remains) commit(l list, record []byte) list {
	h, ok := batchrepr.ReadHeader(record)
	if !ok {
		return l
	}
	at := edm.Ticks(0)
	if m, ok := markOf(record); ok {
		at = m.number
	}
	s := stamp{sequence: uint64(h.SeqNum), at: at}
	b := batchrepr.Read(record)
	for {
		kind, k, v, more, err := b.Next()
		if err != nil || !more {
			return l
		}
		switch kind {
		case pebble.InternalKeyKindLogData:
			continue // without a sequence number
		case pebble.InternalKeyKindRangeDelete:
			r.deletions.add(k, v, s)
		default:
			l = append(l, version{key: k, value: v, kind: kind, stamp: s})
		}
		s.sequence++
	}
}

// merge gives the versions of all sources, key by key.
type merge []head

type head struct {
	version
	from source
}

func (m merge) Len() int           { return len(m) }
func (m merge) Less(i, j int) bool { return compare(m[i].version, m[j].version) < 0 }
func (m merge) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *merge) Push(x any)        { *m = append(*m, x.(head)) }
func (m *merge) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}

func newMerge(sources []source) *merge {
	m := new(merge)
	for _, s := range sources {
		if v, ok := s.next(); ok {
			*m = append(*m, head{v, s})
		}
	}
	heap.Init(m)
	return m
}

// next returns all versions of the next key that begins with space, or none. It passes
// over the keys of spaces before.
func (m *merge) next(space byte) (versions []version) {
	for len(*m) > 0 {
		v := (*m)[0].version
		if len(v.key) > 0 && v.key[0] > space || versions != nil && !bytes.Equal(v.key, versions[0].key) {
			return versions
		}
		if len(v.key) > 0 && v.key[0] == space {
			versions = append(versions, v)
		}
		if next, ok := (*m)[0].from.next(); ok {
			(*m)[0].version = next
			heap.Fix(m, 0)
		} else {
			heap.Pop(m)
		}
	}
	return versions
}

// deletions are the ranges of keys that were deleted, by the prefix of their table: a
// range is a table that was dropped, or a piece of it.
type deletions map[string][]deletedRange

type deletedRange struct {
	start, end []byte
	stamp      stamp
}

func (d deletions) add(start, end []byte, s stamp) {
	if len(start) >= prefixLength {
		p := string(start[:prefixLength])
		d[p] = append(d[p], deletedRange{start, end, s})
	}
}

// current returns the newest value of a key, or nil if it was deleted. When a version was
// written is in its value, if written finds it there: an unused file may have versions
// that look newer by their sequence numbers.
func (d deletions) current(versions []version, written func(value []byte) edm.Ticks) []byte {
	var best *version
	for i := range versions {
		v := &versions[i]
		if v.kind != pebble.InternalKeyKindSet && v.kind != pebble.InternalKeyKindSetWithDelete {
			continue
		}
		v.stamp.at = written(v.value)
		if best == nil || cmp.Or(cmp.Compare(v.stamp.at, best.stamp.at), cmp.Compare(v.stamp.sequence, best.stamp.sequence)) > 0 {
			best = v
		}
	}
	if best == nil {
		return nil
	}
	for _, v := range versions {
		switch v.kind {
		case pebble.InternalKeyKindDelete, pebble.InternalKeyKindSingleDelete, pebble.InternalKeyKindDeleteSized:
			if v.stamp.deletes(best.stamp) {
				return nil
			}
		}
	}
	if len(best.key) >= prefixLength {
		for _, r := range d[string(best.key[:prefixLength])] {
			if bytes.Compare(r.start, best.key) <= 0 && bytes.Compare(best.key, r.end) < 0 && r.stamp.deletes(best.stamp) {
				return nil
			}
		}
	}
	return best.value
}

// writtenRow returns the Timestamp of a stored entity, or 0.
func writtenRow(v []byte) edm.Ticks {
	row, err := table.ParseRow(nil, v)
	if err != nil {
		return 0
	}
	return row.Timestamp
}
