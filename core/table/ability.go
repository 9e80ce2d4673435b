package table

import (
	"context"

	"edgetable/core/edm"
	"edgetable/core/traffic"
)

// As returns the store as a T, an interface for an optional ability such as [Counting]. It looks
// through wrappers, as errors.As does. A Store that wraps another one has a method Unwrap() Store.
// The wrapper implements an ability itself only if it changes that ability.
func As[T any](s Store) (ability T, ok bool) {
	for s != nil {
		if ability, ok = s.(T); ok {
			return ability, true
		}
		w, wraps := s.(interface{ Unwrap() Store })
		if !wraps {
			break
		}
		s = w.Unwrap()
	}
	return ability, false
}

// Declaring is a [Store] whose tables can have [Traits].
type Declaring interface {
	// Declares returns the name of the store for messages, such as "PostgreSQL", and whether the
	// store supports a rule of expiry. Otherwise the store answers [ErrUnsupported] to a record with
	// such a rule.
	Declares() (name string, expiry bool)
}

// Counting is a [Store] that counts the traffic of its tables itself. Objects on Workers do this
// because no single server sees all requests.
type Counting interface {
	// Traffic returns the statistics of a table. The report does not contain the table's name.
	Traffic(ctx context.Context, t RecordKey) (*traffic.Report, error)
}

// Restoring is a [Store] that can restore a table to an earlier state. Objects on Workers can,
// because the platform keeps their earlier states.
type Restoring interface {
	// Restore puts a table back to its state at a time, or with [UndoRestore] undoes the last
	// restore. It returns one line for each part of the table: the name of the part, a space, and
	// [Restored], [Removed] or the reason why the part is neither. The last line is [RestoreEnded], or
	// the reason why another call must finish the restore. Until the restore has ended, requests to the
	// table fail. If Restore returns an error that refuses the restore, nothing was changed.
	Restore(ctx context.Context, t RecordKey, to edm.Ticks) (did []byte, err error)
}

// UndoRestore is passed to Restore in place of a time. It undoes the last restore, even if that has not ended yet.
const UndoRestore edm.Ticks = 0

// These words report the outcome of a restore, for one part of the table or for the whole.
const (
	Restored          = "restored"
	Removed           = "removed" // the part did not exist at that time
	RestoreEnded      = "ended"
	RestoreWaits      = "waits" // followed by the number of seconds that the caller should wait
	RestoreUnfinished = "unfinished"
)

// Replicated is a [Store] that answers eventual reads from a replica and knows how old the replica
// is. A store without this ability answers eventual reads like strong ones.
type Replicated interface {
	// Replication reports the state of the replica. It never fails: if there is no newer
	// information, it repeats the last known state.
	Replication() Replication
}

// Replication is the state of a replica. Every write that returned before LastSync is
// visible to eventual reads; LastSync never goes back while the status is Live.
type Replication struct {
	Status   ReplicationStatus
	LastSync edm.Ticks // 0: the time is unknown
}

// ReplicationStatus is one of the three states that Get Table Service Stats can report.
type ReplicationStatus uint8

const (
	Live        ReplicationStatus = iota // follows the primary
	Bootstrap                            // the replica does not have all data yet
	Unavailable                          // the replica cannot be reached or has stopped following
)

func (s ReplicationStatus) String() string { return [...]string{"live", "bootstrap", "unavailable"}[s] }
