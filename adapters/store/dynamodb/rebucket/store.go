package rebucket

import (
	"context"
	"strconv"
	"time"

	"edgetable/core/buckets"
	"edgetable/core/table"
)

// Store is the interface that a run needs of the store.
type Store interface {
	// Change changes the location of a table: the table's incarnation and number of buckets, and those of its copy
	// during a move. It reads the location, calls the function change with it, and writes the result. If the function
	// returns its argument, Change writes nothing.
	//
	// If the record has changed in between, or if the reply to the write was lost, Change reads the location and calls
	// the function again. A write without a reply may have been applied. Then the function gets the location that it
	// returned before, and must return it unchanged.
	//
	// If the new location lacks an incarnation of the old location, Change also writes a note so that Purge removes
	// this incarnation. The error comes from the function or the store, or is [table.ErrNoTable].
	Change(ctx context.Context, key table.RecordKey, change func(Location) (Location, error)) error

	// Heads returns a page of the entities of one bucket in key order. The argument rows limits the number of entities. The
	// first key is at least start. The result next is the start of the next page, or nil at the end.
	Heads(ctx context.Context, p Spread, bucket uint16, start []byte, rows int) (page []Head, next []byte, err error)

	// Copy handles the first few of the differences: it writes the states of these entities in the table to the copy. Copy
	// uses one transaction, which applies only if the record still has the same Spread, Target and Owner. If alive is not nil,
	// Copy calls alive before it sends the transaction. The transaction then also requires that the entities have not changed
	// since Copy read them.
	Copy(ctx context.Context, key table.RecordKey, l Location, d []Difference, alive func(context.Context) error) (Copied, error)
}

// Env contains the store, the clock and the other functions that a run uses.
type Env struct {
	Store
	Elapsed  func() time.Duration // a monotonic clock
	Sleep    func(context.Context, time.Duration) error
	Rand     func() uint64
	Grace    time.Duration // When the record has forbidden writes for this time, every process knows that the table permits no writes.
	Deadline time.Duration // timeout of one operation
}

// Spread is an incarnation of a table and its number of buckets, which together determine the hash keys of the table's
// entities.
type Spread struct {
	Incarnation table.Incarnation
	Buckets     uint16
}

// Bucket returns the bucket of an entity with this encoded key.
func (p Spread) Bucket(k []byte) uint16 { return buckets.OfKey(k, p.Buckets) }

// Location contains the Spread of a table and, if a run is unfinished, that of its copy.
type Location struct {
	Spread
	Move
}

// Move is the part of a record that describes an unfinished run.
type Move struct {
	Target Spread // Spread of the copy; zero if there is none
	Owner  string // the run that may write the copy; "" if there is none
	Seal   Seal
	Beat   int // heartbeat counter of the run that forbids writes to the table
}

// None returns true if m describes no unfinished run.
func (m *Move) None() bool { return m.Target == (Spread{}) }

// Released returns a Move with the same copy. In this Move, no run may write the copy, and the table permits all reads and
// writes.
func (m *Move) Released() Move { return Move{Target: m.Target} }

// Seal says which operations a table permits while a run moves it.
type Seal uint8

const (
	// Open permits all reads and writes.
	Open Seal = iota
	// Sealing permits only reads. The run waits for the processes that do not know this yet and still write. Their
	// writes count, because the last pass will copy these writes.
	Sealing
	// Sealed permits only reads, while the run compares the table with its copy for the last time. A write may still
	// arrive from a process that was suspended before writes were forbidden. Such a write is not acknowledged, and is
	// lost when the copy replaces the table. So a read returns only entities that are equal in the table and in its
	// copy.
	Sealed
)

// Head identifies one state of an entity. It does not contain the properties.
type Head struct {
	Key          []byte
	Ticks, Nonce string
	Size         int    // approximate size of the item
	Chunks       []byte // names the items that hold the properties of a large entity; nil for other entities
}

// Same reports whether h and o describe the same state of an entity.
func (h *Head) Same(o *Head) bool { return h.Ticks == o.Ticks && h.Nonce == o.Nonce }

// Difference is an entity whose state in the copy differs from that in the table.
type Difference struct {
	Key  []byte
	Copy *Head // state in the copy; nil if the copy lacks the entity
}

// Copied contains the counts that a call of Copy returns.
type Copied struct {
	Taken           int // number of differences that were handled; Copy handles at least one
	Copied, Deleted int
}

func (e *Env) newOwner() string {
	return strconv.FormatUint(e.Rand(), 36) + "-" + strconv.FormatUint(e.Rand(), 36)
}
