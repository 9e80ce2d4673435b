// Package room says whether an object is full.
package room

import (
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/core/table"
)

// The platform gives an object 10 GB and ends it when it writes more. Writes that may
// make it larger are refused before that, with room left for what deletions write
// themselves, so that reads and deletions still work.
const (
	maxSize = 9_800_000_000
	// stride is the number of bytes written between two looks at the size. Rows may take
	// twice their size where pages are half empty.
	stride = 32 << 20
)

// The errors of writes to a full object. The service answers 403 with this message for accounts that are closed to writes;
// clients do not retry it.
var (
	ErrBucketFull    = table.InsufficientAccountPermissions.With("Write operations are not allowed. The object of these keys of the table has stored 10 GB, its limit, and has not split yet: delete entities, or let the Worker split it (EDGETABLE_SPLIT_BYTES).")
	ErrPartitionFull = table.InsufficientAccountPermissions.With("Write operations are not allowed. One partition alone fills the object of these keys of the table, which stores at most 10 GB, and no split divides a partition: delete entities of it, or spread them over more PartitionKeys in another table.")
	ErrCatalogFull   = table.InsufficientAccountPermissions.With("Write operations are not allowed. The object of the account's catalog has stored 10 GB, its limit: delete tables.")
)

// Room looks at the size of an object now and then, and each time while the object is full.
type Room struct {
	Size int64 // at the last look

	left   int // bytes to write before the next look
	stride int // bytes between two looks, 0: stride
}

// Wrote counts bytes that were written.
func (r *Room) Wrote(n int) { r.left -= n }

// LookOften has it look in time to notice a size, 0: that of a full object.
func (r *Room) LookOften(size int64) {
	if r.stride = stride; size > 0 {
		r.stride = int(min(stride, size/16+1))
	}
}

// Look has it look with the next write.
func (r *Room) Look() { r.left = 0 }

// Full reports whether the object is full.
func (r *Room) Full(rows storage.Rows) bool {
	if r.left > 0 {
		return false
	}
	if r.Size = rows.Size(); r.Size > maxSize {
		return true
	}
	if r.left = r.stride; r.left == 0 {
		r.left = stride
	}
	return false
}
