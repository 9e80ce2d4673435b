package table

import (
	"errors"
	"strconv"
)

// These are the errors of a [Store]. Compare them with errors.Is.
var (
	// ErrNoRecord means that there is no record with this key.
	ErrNoRecord = errors.New("no such record")
	// ErrRevision means that the record does not have the revision that the call demands.
	ErrRevision = errors.New("record was changed")
	// ErrBeingDeleted means that a table of this name is still being deleted, so the name is
	// not available yet.
	ErrBeingDeleted = errors.New("table is being deleted")
	// ErrNoTable means that the table does not exist.
	ErrNoTable = errors.New("no such table")
	// ErrNoEntity means that there is no entity with this key.
	ErrNoEntity = errors.New("no such entity")
	// ErrExists means that the entity exists, although the write demands that it is absent.
	ErrExists = errors.New("entity exists")
	// ErrChanged means that the entity does not have the Timestamp that the write demands.
	ErrChanged = errors.New("entity was changed")
	// ErrBusy means that the store throttled the call, or that the call conflicted with another
	// one. The call applied nothing, and can be retried later.
	ErrBusy = errors.New("store is busy")
	// ErrFull means that the store has no space for the data of the write. The write was not
	// applied. A delete may still succeed.
	ErrFull = errors.New("store is full")
	// ErrDamaged means that stored data is damaged. Every call that needs the damaged data
	// fails.
	ErrDamaged = errors.New("a part of the stored data is damaged")
	// ErrMemoryFull is an [ErrFull] of a store that keeps its tables in memory.
	ErrMemoryFull error = memoryFull{}
	// ErrUnknown means that the reply to a write was lost: the write may or may not have been
	// applied.
	ErrUnknown = errors.New("outcome unknown")
	// ErrUnsupported means that the store lacks a feature that the call needs.
	ErrUnsupported = errors.New("not supported by this store")
	// ErrKeyTooLong means that the encoded key is too long for the store.
	ErrKeyTooLong = errors.New("key too long for this store")
	// ErrNoFeed means that the table has no change feed.
	ErrNoFeed = errors.New("table keeps no feed")
	// ErrFeedExpired means that the feed has already removed some of the changes after the
	// position.
	ErrFeedExpired = errors.New("the feed no longer has the changes after the position")
	// ErrFeedEnded means that the table to which the feed belongs was dropped.
	ErrFeedEnded = errors.New("feed has ended")
	// ErrHistory means that the position belongs to another history of the store: after the
	// position was issued, the store was restored or lost commits.
	ErrHistory = errors.New("the store was restored or lost commits after this position was issued")
)

type memoryFull struct{}

func (memoryFull) Error() string { return "the memory for tables is full" }
func (memoryFull) Unwrap() error { return ErrFull }

// Refused is the error of a Commit with a mutation that could not be applied. Err is the
// reason: [ErrExists], [ErrNoEntity], [ErrChanged], [ErrKeyTooLong], or an *[Error] if a limit
// was exceeded.
type Refused struct {
	Index int
	Err   error
}

func (r *Refused) Error() string { return "mutation " + strconv.Itoa(r.Index) + ": " + r.Err.Error() }

// Unwrap makes Err visible to errors.Is and errors.As.
func (r *Refused) Unwrap() error { return r.Err }
