// Package rebucket moves a table of the store on DynamoDB to another number of buckets while the table is in use.
//
// A run has these steps:
//  1. It copies the entities, with their Timestamps, to a new incarnation of the table. Clients continue to read and
//     write the table.
//  2. It compares the table with its copy repeatedly, until few entities differ.
//  3. It seals the table: writes get [table.ErrBusy]. It waits until no process can have cached the record without the
//     seal.
//  4. It compares the table with its copy for the last time. A read of an entity that differs waits until the entity
//     is copied.
//  5. One transaction replaces the table by the copy, and writes a note that makes Purge remove the old incarnation.
//
// To resume an interrupted run, start a run with the same number of buckets. The new run also stops a run that is still
// in progress. If a run dies while the table is sealed, its heartbeats stop. A process that has seen no heartbeat for
// [Silence] removes the seal, and the table accepts writes again.
package rebucket

import (
	"errors"
	"fmt"
	"time"
)

// MaxBuckets is the highest number of buckets. A scan of a whole table begins with one call for each bucket.
const MaxBuckets = 256

// Silence is the time without a heartbeat after which a run counts as dead. Another process then makes a sealed table
// accept writes again.
const Silence = 30 * time.Second

// Options configure a run.
type Options struct {
	// Buckets is the new number of buckets of the table, from 1 to MaxBuckets.
	Buckets uint16
	// Abort ends an unfinished run: the table is unchanged, and Purge removes the copy. Buckets is ignored.
	Abort bool
	// MaxPause is the maximum expected time without writes; 0 means no limit. If more time is expected, the run stops
	// with a *[PauseError] before it refuses writes. A later run continues with the copy.
	MaxPause time.Duration
	// Report, if not nil, is called after each group of entities that was written or compared. If it returns an error,
	// the run stops, and a later run continues.
	Report func(Progress) error
}

// Progress describes the progress of a run.
type Progress struct {
	State State
	// Pass is the number of the current comparison of the table with its copy. The first comparison has the number 1.
	Pass int
	// Rows is the number of entities compared in this pass. Copied and Deleted count the entities written to the copy
	// and deleted from the copy.
	Rows, Copied, Deleted int
	// Pause is the expected time for which writes are refused. It includes the last pass, and the wait until leases
	// have ended. It is set in [Closing] and later states.
	Pause time.Duration
}

// State is the current step of a run.
type State uint8

const (
	// Copying means that the run updates the copy. All processes read and write the table.
	Copying State = iota
	// Closing means that the run seals the table, and waits until every process refuses writes to it.
	Closing
	// Last means that the run compares the table with its copy for the last time. Writes are refused.
	Last
	// Done means that the table has the new number of buckets.
	Done
	// Unchanged means that the table already had this number of buckets, or that there was nothing to abort.
	Unchanged
	// Aborted means that an unfinished run was ended. Purge will remove its copy.
	Aborted
)

func (s State) String() string {
	return [...]string{"copying", "closing", "last pass", "done", "nothing to do", "aborted"}[s]
}

// Errors of a run that ends before the table has moved.
var (
	// ErrBuckets means that the number of buckets is below 1 or above MaxBuckets.
	ErrBuckets = errors.New("dynamodb: a table has 1 to 256 buckets")
	// ErrSuperseded means that another run took over, or has already moved the table.
	ErrSuperseded = errors.New("dynamodb: another run of rebucket has taken over")
	// ErrAborted means that another process aborted the run.
	ErrAborted = errors.New("dynamodb: the run of rebucket was aborted")
	// ErrSilent means that the run wrote no heartbeat for [Silence], so another process made the table accept writes
	// again. A later run continues.
	ErrSilent = errors.New("dynamodb: the run of 'edgetable dynamodb rebucket' was stopped, because writes had to wait for it too long; run the command again")
)

// PauseError means that writes would be refused for longer than Options.MaxPause.
type PauseError struct{ Expected, Max time.Duration }

func (e *PauseError) Error() string {
	return fmt.Sprintf("dynamodb: writes would have to wait about %v while the last changes are copied, but at most %v is allowed; the copy of the table is kept", e.Expected.Round(time.Millisecond), e.Max)
}

// UnfinishedError means that an earlier run, which moves the table to another number of buckets, is not finished.
type UnfinishedError struct{ Buckets uint16 }

func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("dynamodb: an earlier run to %d buckets is not finished: finish it with the same number of buckets, or abort it", e.Buckets)
}
