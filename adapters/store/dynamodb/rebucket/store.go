package rebucket

import (
	"context"
	"strconv"
	"time"

	"edgetable/core/buckets"
	"edgetable/core/table"
)

// Store is the part of the store that a run needs.
type Store interface {
	// Change reads the record of a table, calls change and writes the result. If the record has changed in between,
	// it begins again. If change returns its argument, nothing is written; change must do so if its work is already
	// done. A Spread that the record no longer contains is noted for Purge. The error is that of change,
	// [table.ErrNoTable] or that of the store.
	Change(ctx context.Context, key table.RecordKey, change func(Location) (Location, error)) error

	// Heads returns at most rows entities of one bucket in order, from start on, and the start of the next page; nil
	// at the end.
	Heads(ctx context.Context, p Spread, bucket uint16, start []byte, rows int) (page []Head, next []byte, err error)

	// Copy removes the first few of the differences, in one transaction. The transaction applies only if the record
	// still has the same Spread, Target and Owner. If alive is not nil, it is called before each transaction, and the
	// transaction also requires that the entities have not changed since they were read.
	Copy(ctx context.Context, key table.RecordKey, l Location, d []Difference, alive func(context.Context) error) (Copied, error)
}

// Env is the environment of a run.
type Env struct {
	Store
	Elapsed  func() time.Duration // a monotonic clock
	Sleep    func(context.Context, time.Duration) error
	Rand     func() uint64
	Grace    time.Duration // after this time, no process relies on a record without the seal
	Deadline time.Duration // timeout of one operation
}

// Spread says how the entities of a table are spread over hash keys.
type Spread struct {
	Incarnation table.Incarnation
	Buckets     uint16
}

// Bucket returns the bucket of an entity, by its encoded key.
func (p Spread) Bucket(k []byte) uint16 { return buckets.OfKey(k, p.Buckets) }

// Location says where a table is, and where an unfinished run moves it.
type Location struct {
	Spread
	Move
}

// Move is what a record says about an unfinished run.
type Move struct {
	Target Spread // where the copy is; zero if there is none
	Owner  string // the run that may write the copy; "" if there is none
	Seal   Seal
	Beat   int // incremented while the run that sealed the table is alive
}

// None reports whether there is no unfinished run.
func (m *Move) None() bool { return m.Target == (Spread{}) }

// Released returns the move without its run.
func (m *Move) Released() Move { return Move{Target: m.Target} }

// Seal says which operations are permitted on a table while it moves.
type Seal uint8

const (
	// Open permits all reads and writes.
	Open Seal = iota
	// Sealing permits only reads. The run waits for the processes that do not know of the seal yet: their writes are
	// still part of the table.
	Sealing
	// Sealed permits only reads, while the entities are compared for the last time. A write may still arrive from a
	// process that was suspended before the seal. It is not part of the table, and is not acknowledged. So a read
	// counts only what both sides have.
	Sealed
)

// Head distinguishes two states of an entity, without its properties.
type Head struct {
	Key          []byte
	Ticks, Nonce string
	Size         int    // approximate size of the item
	Chunks       []byte // names the items that hold the properties, if there are any
}

// Same reports whether both heads are of the same state.
func (h *Head) Same(o *Head) bool { return h.Ticks == o.Ticks && h.Nonce == o.Nonce }

// Difference is an entity whose state in the copy differs from that in the table.
type Difference struct {
	Key  []byte
	Copy *Head // in the copy; nil if it is missing there
}

// Copied is the result of one Copy.
type Copied struct {
	Taken           int // number of differences that were handled, at least one
	Copied, Deleted int
}

func (e *Env) newOwner() string {
	return strconv.FormatUint(e.Rand(), 36) + "-" + strconv.FormatUint(e.Rand(), 36)
}
