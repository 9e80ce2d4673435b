package table

import (
	"context"

	"edgetable/core/edm"
	"edgetable/core/traffic"
)

// As converts a store to T, an optional interface such as [Counting]. Like errors.As, it looks inside wrappers, which
// have the method Unwrap() Store.
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

// Declaring is a [Store] whose tables can have [Traits] (declared options).
type Declaring interface {
	// Declares returns the store's name for messages, such as "PostgreSQL", and whether it supports rules of expiry. If
	// not, WriteRecord fails with [ErrUnsupported] for such a rule.
	Declares() (name string, expiry bool)
}

// Counting is a [Store] that counts the traffic of its tables itself. Cloudflare Durable Objects need this: no single
// server receives all requests.
type Counting interface {
	// Traffic returns the traffic statistics of a table. The report does not contain the table name.
	Traffic(ctx context.Context, t RecordKey) (*traffic.Report, error)
}

// Restoring is a [Store] that can restore a table to an earlier state. Cloudflare Durable Objects can: the platform
// retains earlier states of each object.
type Restoring interface {
	// Restore restores a table to its state at the time to, or undoes the last restore if to is [UndoRestore]. If it
	// returns an error, nothing has changed. Requests to the table fail until the restore has ended.
	//
	// The result has one line for each part of the table: the name of the part, a space, and [Restored], [Removed] or
	// the reason why the part was not restored. The last line is [RestoreEnded], or the reason why Restore must be
	// called again.
	Restore(ctx context.Context, t RecordKey, to edm.Ticks) (did []byte, err error)
}

// UndoRestore is an argument of Restore instead of a time. It undoes the last restore, even an unfinished one.
const UndoRestore edm.Ticks = 0

// Words in the result of Restore; see [Restoring].
const (
	Restored          = "restored"
	Removed           = "removed" // the part did not exist at the time of the restored state
	RestoreEnded      = "ended"
	RestoreWaits      = "waits" // in the result, the number of seconds to wait before the next call follows this word
	RestoreUnfinished = "unfinished"
)

// Replicated is a [Store] that serves eventual reads from a replica and knows how old the replica's data is. Other
// stores serve eventual reads like strong reads.
type Replicated interface {
	// Replication returns the state of the replica. It never fails. Without new information, it returns the last known
	// state.
	Replication() Replication
}

// Replication is the state of a replica. Eventual reads see every write that returned before LastSync. While
// Status is Live, LastSync never decreases.
type Replication struct {
	Status   ReplicationStatus
	LastSync edm.Ticks // time of the last sync, or 0 if it is unknown
}

// ReplicationStatus is one of the three states in the answer to Get Table Service Stats.
type ReplicationStatus uint8

const (
	Live        ReplicationStatus = iota // the replica receives all writes of the primary
	Bootstrap                            // the replica does not have all data of the primary yet
	Unavailable                          // the replica is unreachable, or no longer receives writes
)

func (s ReplicationStatus) String() string { return [...]string{"live", "bootstrap", "unavailable"}[s] }
