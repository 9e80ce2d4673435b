package engine

import "edgetable/core/table"

// The platform gives an object 10 GB and ends it when it writes more. Writes that may
// make it larger are refused before that, with room left for what deletions write
// themselves, so that reads and deletions still work.
const (
	maxSize = 9_800_000_000
	// stride is the number of bytes written between two looks at the size. Rows may take
	// twice their size where pages are half empty.
	stride = 32 << 20
)

// The service answers 403 with this message for accounts that are closed to writes;
// clients do not retry it.
var (
	errBucketFull    = table.InsufficientAccountPermissions.With("Write operations are not allowed. The object of these keys of the table has stored 10 GB, its limit, and has not split yet: delete entities, or let the Worker split it (EDGETABLE_SPLIT_BYTES).")
	errPartitionFull = table.InsufficientAccountPermissions.With("Write operations are not allowed. One partition alone fills the object of these keys of the table, which stores at most 10 GB, and no split divides a partition: delete entities of it, or spread them over more PartitionKeys in another table.")
	errCatalogFull   = table.InsufficientAccountPermissions.With("Write operations are not allowed. The object of the account's catalog has stored 10 GB, its limit: delete tables.")
)

// room says whether an object is full. It looks at the size now and then, and each
// time while the object is full.
type room struct {
	left   int   // bytes to write before the next look
	size   int64 // at the last look
	stride int   // bytes between two looks, 0: stride
}

func (r *room) wrote(n int) { r.left -= n }

func (r *room) full(rows Rows) bool {
	if r.left > 0 {
		return false
	}
	if r.size = rows.Size(); r.size > maxSize {
		return true
	}
	if r.left = r.stride; r.left == 0 {
		r.left = stride
	}
	return false
}

// whyFull is the error of a write to a full object: one of a single partition cannot split.
func (b *bucket) whyFull(t *turn) *table.Error {
	if b.onlyPartition(t) != nil {
		return errPartitionFull
	}
	return errBucketFull
}
