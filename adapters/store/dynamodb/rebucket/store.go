package rebucket

import (
	"context"
	"strconv"
	"time"

	"edgetable/core/buckets"
	"edgetable/core/table"
)

// Store is what a run needs of the store.
type Store interface {
	// Change reads the record of a table and writes what change makes of it, if the
	// record is still the same, else it begins again. It writes nothing if change
	// returns its argument, and so change must return that if its work is done. A Spread
	// that is in the record no more is noted for Purge. The error is that of change,
	// [table.ErrNoTable] or that of the store.
	Change(ctx context.Context, key table.RecordKey, change func(Location) (Location, error)) error

	// Heads returns at most rows entities of one bucket in order, from start on, and
	// where the next page starts; nil is the end.
	Heads(ctx context.Context, p Spread, bucket uint16, start []byte, rows int) (page []Head, next []byte, err error)

	// Copy makes the first of some differences disappear, in one transaction that
	// applies only if the record is still of the same Spread, Target and Owner. If alive
	// is not nil, it also applies only if the entities are what was read, and alive is
	// called before each.
	Copy(ctx context.Context, key table.RecordKey, l Location, d []Difference, alive func(context.Context) error) (Copied, error)
}

// Env is the surroundings of a run.
type Env struct {
	Store
	Elapsed  func() time.Duration // a monotonic clock
	Sleep    func(context.Context, time.Duration) error
	Rand     func() uint64
	Grace    time.Duration // after it no process relies on a record without the seal
	Deadline time.Duration // of one operation
}

// Spread is how the entities of a table are spread over hash keys.
type Spread struct {
	Incarnation table.Incarnation
	Buckets     uint16
}

// Bucket is the bucket of an entity, by its encoded key.
func (p Spread) Bucket(k []byte) uint16 { return buckets.OfKey(k, p.Buckets) }

// Location is where a table is, and where an unfinished run moves it.
type Location struct {
	Spread
	Move
}

// Move is what a record says about an unfinished run.
type Move struct {
	Target Spread // where the copy is; zero: there is none
	Owner  string // the run that may write it; "" is none
	Seal   Seal
	Beat   int // rises while the run that sealed the table lives
}

// None reports whether there is no unfinished run.
func (m *Move) None() bool { return m.Target == (Spread{}) }

// Released is the move without its run.
func (m *Move) Released() Move { return Move{Target: m.Target} }

// Seal is what may be done with a table while it moves.
type Seal uint8

const (
	// Open permits all reads and writes.
	Open Seal = iota
	// Sealing permits reads alone. The run waits for the processes that do not know yet:
	// their writes are part of the table.
	Sealing
	// Sealed permits reads alone, while the entities are compared for the last time. A
	// write that arrives now, because its process was suspended since before the seal, is
	// not part of the table, and is not acknowledged either. A read counts only what both
	// sides have.
	Sealed
)

// Head distinguishes two states of an entity, without its properties.
type Head struct {
	Key          []byte
	Ticks, Nonce string
	Size         int    // of the item, about
	Chunks       []byte // names the items that hold the properties, if there are any
}

// Same reports whether both are of the same state.
func (h *Head) Same(o *Head) bool { return h.Ticks == o.Ticks && h.Nonce == o.Nonce }

// Difference is an entity whose state in the copy is not the state in the table.
type Difference struct {
	Key  []byte
	Copy *Head // in the copy; nil is none
}

// Copied is the work of one Copy.
type Copied struct {
	Taken           int // differences that were dealt with, at least one
	Copied, Deleted int
}

func (e *Env) newOwner() string {
	return strconv.FormatUint(e.Rand(), 36) + "-" + strconv.FormatUint(e.Rand(), 36)
}
