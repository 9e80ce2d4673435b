package remains

import (
	"bytes"
	"cmp"

	"github.com/cockroachdb/pebble/v2"

	"edgetable/core/edm"
)

// stamp says when a version of a key was written. The field sequence is 0 in data files of the lowest level. The field
// at is 0 (unknown) for a deletion in a data file.
type stamp struct {
	sequence uint64
	at       edm.Ticks
}

// deletes reports whether a deletion at the time d deletes a version that was written at the time v.
func (d stamp) deletes(v stamp) bool {
	switch {
	case d.at > 0 && v.at > 0:
		return d.at > v.at
	case v.sequence > 0:
		return d.sequence > v.sequence
	}
	return true // v is in the lowest level, and all data there is older than the deletion
}

// Version is one version of a key: a value or a deletion, in a data file or a log.
type Version struct {
	Key, Value []byte
	kind       pebble.InternalKeyKind
	stamp      stamp
}

func compare(a, b Version) int {
	return cmp.Or(bytes.Compare(a.Key, b.Key), -cmp.Compare(a.stamp.sequence, b.stamp.sequence))
}

// deletions contains the deleted key ranges by table. The keys of a table's entities have a common prefix; the field
// prefix is its length.
type deletions struct {
	prefix int
	ranges map[string][]deletedRange
}

type deletedRange struct {
	start, end []byte
	stamp      stamp
}

func (d deletions) add(start, end []byte, s stamp) {
	if len(start) >= d.prefix {
		p := string(start[:d.prefix])
		d.ranges[p] = append(d.ranges[p], deletedRange{start, end, s})
	}
}

// Current returns the value of a key with the latest write time, or nil if the key was deleted. The function writeTime
// returns the write time in a value.
//
// A higher sequence number does not prove a later write, because an unused file may have an old version with a higher
// number.
func (s *Store) Current(versions []Version, writeTime func(value []byte) edm.Ticks) []byte {
	var best *Version
	for i := range versions {
		v := &versions[i]
		if v.kind != pebble.InternalKeyKindSet && v.kind != pebble.InternalKeyKindSetWithDelete {
			continue
		}
		v.stamp.at = writeTime(v.Value)
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
	if len(best.Key) >= s.deletions.prefix {
		for _, r := range s.deletions.ranges[string(best.Key[:s.deletions.prefix])] {
			if bytes.Compare(r.start, best.Key) <= 0 && bytes.Compare(best.Key, r.end) < 0 && r.stamp.deletes(best.stamp) {
				return nil
			}
		}
	}
	return best.Value
}
