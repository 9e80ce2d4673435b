package object

import "edgetable/core/table"

// The platform gives an object 10 GB, and ends it when it writes more. What may
// make it larger is refused before that, with room left for what deletions write
// themselves: so reads and deletions go on.
const (
	maxSize = 9_800_000_000
	// stride is how much is written between two looks at the size. What rows take
	// may be twice what they hold, where pages are half empty.
	stride = 32 << 20
)

// The message of a 403 that the service has for accounts that are closed to
// writes: clients do not try again what fails by it.
var (
	errBucketFull  = table.InsufficientAccountPermissions.With("Write operations are not allowed. The object with this bucket of the table has stored the 10 GB that one can: delete entities, or copy the table into one with more buckets.")
	errCatalogFull = table.InsufficientAccountPermissions.With("Write operations are not allowed. The object with the account's catalog has stored the 10 GB that one can: delete tables.")
)

// full reports whether nothing may be written that makes the object larger. It
// looks at the size when it has written some, and each time while it is full.
func (h *handling) full() bool {
	if h.unlooked > 0 {
		return false
	}
	if h.rows.Size() > maxSize {
		return true
	}
	h.unlooked = stride
	return false
}
