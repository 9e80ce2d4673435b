// Package rebucket spreads a table of the store on DynamoDB over another number of
// buckets while it is used.
//
// A run copies the entities to a new incarnation, with their Timestamps, while the
// table is read and written, and compares the two again and again until few entities
// differ. Then it seals the table: writes are answered [table.ErrBusy]. When no
// process can have the record cached without the seal, the run compares for the last
// time, and one transaction makes the copy the table and leaves the old incarnation
// to Purge. Reads continue throughout; during the last comparison those of entities
// that differ wait until they are copied.
//
// To resume an interrupted run, start one with the same number of buckets. That also stops a run that is still in
// progress. If the run that sealed a table has died, the first process whose writes were refused for [Silence] lifts
// the seal.
package rebucket

import (
	"errors"
	"fmt"
	"time"
)

// MaxBuckets is the highest number of buckets. A scan of a whole table begins with
// one call for each bucket.
const MaxBuckets = 256

// Silence is how long a run that sealed a table may show no sign of life before
// others lift the seal.
const Silence = 30 * time.Second

// Options configure a run.
type Options struct {
	// Buckets is the new number of buckets of the table, 1 to MaxBuckets.
	Buckets uint16
	// Abort gives up an unfinished run instead: the table stays as it is, and Purge
	// removes the copy. Buckets is ignored.
	Abort bool
	// MaxPause limits the expected time for which writes are refused; 0 means no limit. If the expected time is
	// longer, the run stops before it with a *[PauseError]. The copy stays, and a later run continues.
	MaxPause time.Duration
	// Report, if not nil, is called after every group of entities written and every few
	// thousand compared. Its error ends the run; a later run continues.
	Report func(Progress) error
}

// Progress describes how far a run has got.
type Progress struct {
	State State
	// Pass numbers the comparisons of table and copy, from 1.
	Pass int
	// Rows were compared in this pass. Of those, Copied were copied and Deleted were
	// deleted from the copy.
	Rows, Copied, Deleted int
	// Pause is the expected time for which writes are refused, known from [Closing] on: the duration of the last pass
	// plus that of leases.
	Pause time.Duration
}

// State is the current step of a run.
type State uint8

const (
	// Copying says that the run updates the copy. All processes read and write.
	Copying State = iota
	// Closing says that writes are about to be refused, or are refused, and that the run
	// waits for the processes that do not know yet.
	Closing
	// Last says that the run compares for the last time. Writes are refused.
	Last
	// Done says that the table has the new buckets.
	Done
	// Unchanged says that the table already had them, or that there was nothing to abort.
	Unchanged
	// Aborted says that the copy was given up.
	Aborted
)

func (s State) String() string {
	return [...]string{"copying", "closing", "last pass", "done", "nothing to do", "aborted"}[s]
}

// The reasons for which a run ends before the table has its new buckets.
var (
	// ErrBuckets means that the number of buckets is not 1 to MaxBuckets.
	ErrBuckets = errors.New("dynamodb: a table has 1 to 256 buckets")
	// ErrSuperseded means that another run took over, or finished the work.
	ErrSuperseded = errors.New("dynamodb: another run of rebucket has taken over")
	// ErrAborted means that another process aborted the run.
	ErrAborted = errors.New("dynamodb: the run of rebucket was aborted")
	// ErrSilent means that the run held up writes without a heartbeat for so long that another process lifted its
	// seal. A later run continues.
	ErrSilent = errors.New("dynamodb: rebucket kept writes waiting too long and was stopped; run it again")
)

// PauseError means that writes would be refused for longer than the options allow.
type PauseError struct{ Expected, Max time.Duration }

func (e *PauseError) Error() string {
	return fmt.Sprintf("dynamodb: writes would wait about %v for the last pass, at most %v is allowed; the copy is kept", e.Expected.Round(time.Millisecond), e.Max)
}

// UnfinishedError means that an earlier run to another number of buckets is not finished.
type UnfinishedError struct{ Buckets uint16 }

func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("dynamodb: a run to %d buckets is not finished: finish it with the same number, or abort it", e.Buckets)
}
