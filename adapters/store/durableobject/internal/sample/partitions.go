package sample

import (
	"bytes"

	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/core/key"
)

// Divides reports whether a range has entities on both sides of a position. Without this check, many requests for
// missing entities could split off an empty range.
func Divides(rows storage.Rows, bounds key.Range, at []byte) bool {
	from, to := storage.Entities(bounds)
	border := append([]byte{storage.SpaceEntities}, at...)
	return storage.HasAny(rows, from, border) && storage.HasAny(rows, border, to)
}

// BehindLast returns the position after the last partition of a range, if nearly all inserts come after the existing
// keys and the range has several partitions. A split there copies nothing.
func (l *Load) BehindLast(rows storage.Rows, bounds key.Range) []byte {
	if !l.Grows() {
		return nil
	}
	partition, _ := key.Split(l.Highest)
	at := key.PartitionAfter(key.DecodePart(partition))
	from, to := storage.Entities(bounds)
	row := append([]byte{storage.SpaceEntities}, at...)
	if !bounds.Contains(at) || storage.HasAny(rows, row, to) {
		return nil
	}
	if !storage.HasAny(rows, from, append([]byte{storage.SpaceEntities}, partition...)) {
		return nil
	}
	return at
}

// OnlyPartition returns the only partition of a range, or nil if the range has none or several.
func OnlyPartition(rows storage.Rows, bounds key.Range) []byte {
	from, to := storage.Entities(bounds)
	for k := range rows.Scan(from, to, 4<<10) {
		partition, _ := key.Split(bytes.Clone(k[1:]))
		if storage.HasAny(rows, append([]byte{storage.SpaceEntities}, key.PartitionAfter(key.DecodePart(partition))...), to) {
			return nil
		}
		return partition
	}
	return nil
}
