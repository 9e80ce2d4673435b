package rebucket

import (
	"context"
	"strconv"
	"time"

	"edgetable/core/buckets"
	"edgetable/core/table"
)

// Store is what a run needs from the store.
type Store interface {
	// Change reads the location of a table, calls a function with it, and writes the location that the function
	// returns. If the function returns its argument, Change writes nothing.
	//
	// If the record has changed in the meantime, or the reply was lost, Change reads the location and calls the
	// function again. If the location is already what the function returned before, the function must return it
	// unchanged.
	//
	// If the new location lacks an incarnation of the old location, Change also writes a note that makes Purge remove
	// the incarnation. If the table does not exist, the error is [table.ErrNoTable].
	Change(ctx context.Context, key table.RecordKey, change func(Location) (Location, error)) error

	// Heads returns one page of the entities of a bucket, in key order. The page begins at the key start, and has at
	// most the given number of rows. The result next is the start of the following page, or nil at the end.
	Heads(ctx context.Context, p Spread, bucket uint16, start []byte, rows int) (page []Head, next []byte, err error)

	// Copy copies the states of the first few differences to the copy of a table. Its transaction applies only if the
	// record still has the given Spread, Target and Owner.
	//
	// If alive is not nil, Copy calls it before it sends the transaction. The transaction then also requires that the
	// entities have not changed since Copy read them.
	Copy(ctx context.Context, key table.RecordKey, l Location, d []Difference, alive func(context.Context) error) (Copied, error)
}

// Env contains the store, the clock and the functions that a run uses.
type Env struct {
	Store
	Elapsed  func() time.Duration // a monotonic clock
	Sleep    func(context.Context, time.Duration) error
	Rand     func() uint64
	Grace    time.Duration // time after which every process knows that the table is sealed
	Deadline time.Duration // timeout of one operation
}

// Spread is an incarnation of a table and its number of buckets. They determine the hash keys of the table's entities.
type Spread struct {
	Incarnation table.Incarnation
	Buckets     uint16
}

// Bucket returns the bucket of the entity with the encoded key k.
func (p Spread) Bucket(k []byte) uint16 { return buckets.OfKey(k, p.Buckets) }

// Location contains the Spread of a table and, if a run is unfinished, the Spread of the copy.
type Location struct {
	Spread
	Move
}

// Move is the part of a record that describes an unfinished run.
type Move struct {
	Target Spread // Spread of the copy; zero if there is none
	Owner  string // the run that may write the copy; "" if there is none
	Seal   Seal
	Beat   int // heartbeat counter of the run that has sealed the table
}

// None returns true if there is no unfinished run.
func (m *Move) None() bool { return m.Target == (Spread{}) }

// Released returns a Move with the same copy. The Move has no owner and does not seal the table.
func (m *Move) Released() Move { return Move{Target: m.Target} }

// Seal determines which operations a table permits while a run moves it.
type Seal uint8

const (
	// Open permits all reads and writes.
	Open Seal = iota
	// Sealing permits only reads. Processes that do not know the seal yet may still write. The last pass copies their
	// writes.
	Sealing
	// Sealed permits only reads, while the run compares the table with its copy for the last time.
	//
	// A process that was suspended before the seal may still write. This write is not acknowledged, and is lost when
	// the copy replaces the table. A read therefore returns only entities that are equal in the table and in its copy.
	Sealed
)

// Head identifies one state of an entity, without the properties.
type Head struct {
	Key          []byte
	Ticks, Nonce string
	Size         int    // approximate size of the item
	Chunks       []byte // names of the items that contain the properties of a large entity; nil for other entities
}

// Same returns true if h and o describe the same state of an entity.
func (h *Head) Same(o *Head) bool { return h.Ticks == o.Ticks && h.Nonce == o.Nonce }

// Difference is an entity whose state in the copy differs from its state in the table.
type Difference struct {
	Key  []byte
	Copy *Head // state in the copy; nil if the copy lacks the entity
}

// Copied is the result of a call of Copy.
type Copied struct {
	Taken           int // number of differences that were processed, at least one
	Copied, Deleted int
}

func (e *Env) newOwner() string {
	return strconv.FormatUint(e.Rand(), 36) + "-" + strconv.FormatUint(e.Rand(), 36)
}
