// Package room decides whether an object is so full that writes must be refused.
package room

import (
	"edgetable/adapters/store/durableobject/internal/storage"
	"edgetable/core/table"
)

// The platform limits an object to 10 GB. Above maxSize, writes that may make the object larger are refused. The rest
// is for the rows that deletions write.
const (
	maxSize = 9_800_000_000
	// stride is the number of bytes written between two checks of the size. The object may grow by twice as much,
	// because database pages may be half empty.
	stride = 32 << 20
)

// The errors of writes to a full object have the status and the first sentence that Azure uses for an account that is
// closed to writes. Clients do not retry such a write.
var (
	ErrBucketFull    = table.InsufficientAccountPermissions.With("Write operations are not allowed. The Durable Object with these keys of the table has reached its limit of 10 GB and has not split yet: delete entities, or let the Worker split it (EDGETABLE_SPLIT_BYTES).")
	ErrPartitionFull = table.InsufficientAccountPermissions.With("Write operations are not allowed. A single partition fills its Durable Object, which stores at most 10 GB, and a partition cannot be split: delete entities of the partition, or spread them over more PartitionKeys in another table.")
	ErrCatalogFull   = table.InsufficientAccountPermissions.With("Write operations are not allowed. The Durable Object with the account's list of tables has reached its limit of 10 GB: delete tables.")
)

// Room checks the size of an object each time a number of bytes was written. While the object is full, it checks before
// each write.
type Room struct {
	Size int64 // the size of the object at the last check

	left   int // number of bytes that may be written before the next check
	stride int // bytes between two checks; 0 means the constant stride
}

// Wrote counts bytes that were written.
func (r *Room) Wrote(n int) { r.left -= n }

// LookOften makes the checks so frequent that one soon notices when the object reaches the given size. If size is 0,
// only the limit of a full object matters.
func (r *Room) LookOften(size int64) {
	if r.stride = stride; size > 0 {
		r.stride = int(min(stride, size/16+1))
	}
}

// Look requests a check of the size at the next write.
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
