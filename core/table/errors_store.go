package table

import (
	"errors"
	"strconv"
)

// Errors of a [Store]. Compare them with errors.Is.
var (
	// ErrNoRecord means that the record does not exist.
	ErrNoRecord = errors.New("no such record")
	// ErrRevision means that the record does not have the required revision.
	ErrRevision = errors.New("record was changed")
	// ErrBeingDeleted means that a table with the same name is still being deleted.
	ErrBeingDeleted = errors.New("table is being deleted")
	// ErrNoTable means that the table does not exist.
	ErrNoTable = errors.New("no such table")
	// ErrNoEntity means that the entity does not exist.
	ErrNoEntity = errors.New("no such entity")
	// ErrExists means that the entity exists, but the write requires its absence.
	ErrExists = errors.New("entity exists")
	// ErrChanged means that the entity does not have the required Timestamp.
	ErrChanged = errors.New("entity was changed")
	// ErrBusy means that the store throttled the call, or that the call conflicted with another. Nothing was applied,
	// and the call can be retried later.
	ErrBusy = errors.New("store is busy")
	// ErrFull means that the store has no space left for the write. Nothing was applied. Deletes may still succeed.
	ErrFull = errors.New("store is full")
	// ErrDamaged means that stored data is damaged. Every call that needs this data fails.
	ErrDamaged = errors.New("a part of the stored data is damaged")
	// ErrMemoryFull is an [ErrFull] of a store that holds its tables in memory.
	ErrMemoryFull error = memoryFull{}
	// ErrUnknown means that the reply to a write was lost. It is unknown whether the write was applied.
	ErrUnknown = errors.New("outcome unknown")
	// ErrUnsupported means that the store lacks a feature that the call needs.
	ErrUnsupported = errors.New("not supported by this store")
	// ErrKeyTooLong means that the encoded key is too long for the store.
	ErrKeyTooLong = errors.New("key too long for this store")
	// ErrNoFeed means that the table has no change feed.
	ErrNoFeed = errors.New("table keeps no feed")
	// ErrFeedExpired means that changes after the requested position have already been removed from the feed.
	ErrFeedExpired = errors.New("the feed no longer has the changes after the position")
	// ErrFeedEnded means that the feed's table was dropped.
	ErrFeedEnded = errors.New("feed has ended")
	// ErrHistory means that the position belongs to another history of the store. The store was restored or lost
	// commits after it had issued the position.
	ErrHistory = errors.New("the store was restored or lost commits after this position was issued")
)

type memoryFull struct{}

func (memoryFull) Error() string { return "the memory for tables is full" }
func (memoryFull) Unwrap() error { return ErrFull }

// Refused is the error of a Commit with a mutation that cannot be applied. Err is [ErrExists], [ErrNoEntity],
// [ErrChanged], [ErrKeyTooLong], or an *[Error] if a limit was exceeded.
type Refused struct {
	Index int
	Err   error
}

func (r *Refused) Error() string { return "mutation " + strconv.Itoa(r.Index) + ": " + r.Err.Error() }

// Unwrap returns Err.
func (r *Refused) Unwrap() error { return r.Err }
