package table

import (
	"errors"
	"strconv"
)

// The errors of a [Store]. Compare them with errors.Is.
var (
	// ErrNoRecord means that there is no record with this key.
	ErrNoRecord = errors.New("no such record")
	// ErrRevision means that the record has another revision than the one demanded.
	ErrRevision = errors.New("record was changed")
	// ErrBeingDeleted means that a table of this name is still being deleted, so the name
	// cannot be used yet.
	ErrBeingDeleted = errors.New("table is being deleted")
	// ErrNoTable means that the table does not exist.
	ErrNoTable = errors.New("no such table")
	// ErrNoEntity means that there is no entity with this key.
	ErrNoEntity = errors.New("no such entity")
	// ErrExists means that the entity exists, but the write demands that it does not.
	ErrExists = errors.New("entity exists")
	// ErrChanged means that the entity has another Timestamp than the one demanded.
	ErrChanged = errors.New("entity was changed")
	// ErrBusy means that the store throttled the call or found it in conflict. Nothing was
	// applied; try again later.
	ErrBusy = errors.New("store is busy")
	// ErrFull means that the store has no space for the data that the write adds. Nothing was
	// applied. A delete may still succeed.
	ErrFull = errors.New("store is full")
	// ErrDamaged means that stored data is damaged. Every call that needs this data fails.
	ErrDamaged = errors.New("a part of the stored data is damaged")
	// ErrMemoryFull is the ErrFull of a store that keeps its tables in memory.
	ErrMemoryFull error = memoryFull{}
	// ErrUnknown means that a reply was lost, so the outcome is unknown.
	ErrUnknown = errors.New("outcome unknown")
	// ErrUnsupported means that the store does not support what the call needs.
	ErrUnsupported = errors.New("not supported by this store")
	// ErrKeyTooLong means that the encoded key does not fit the store.
	ErrKeyTooLong = errors.New("key too long for this store")
	// ErrNoFeed means that the table keeps no feed.
	ErrNoFeed = errors.New("table keeps no feed")
	// ErrFeedExpired means that the feed no longer has all changes after the position.
	ErrFeedExpired = errors.New("the feed no longer has the changes after the position")
	// ErrFeedEnded means that the table of the feed was dropped.
	ErrFeedEnded = errors.New("feed has ended")
	// ErrHistory means that the store has left the history in which the position was issued: it
	// was restored, or it lost commits.
	ErrHistory = errors.New("the history of the store has changed")
)

type memoryFull struct{}

func (memoryFull) Error() string { return "the memory for tables is full" }
func (memoryFull) Unwrap() error { return ErrFull }

// Refused says which mutation of a Commit could not be applied, and why: [ErrExists],
// [ErrNoEntity], [ErrChanged], [ErrKeyTooLong], or an *[Error] if a limit was exceeded.
type Refused struct {
	Index int
	Err   error
}

func (r *Refused) Error() string { return "mutation " + strconv.Itoa(r.Index) + ": " + r.Err.Error() }

// Unwrap gives the reason to errors.Is and errors.As.
func (r *Refused) Unwrap() error { return r.Err }
