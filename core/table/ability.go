package table

import (
	"context"

	"edgetable/core/edm"
	"edgetable/core/traffic"
)

// As converts a store to T, an optional interface such as [Counting]. Like errors.As, the function also looks inside
// wrappers: a Store that wraps another Store has the method Unwrap() Store. So a wrapper need not implement T itself,
// unless the wrapper changes what T does.
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
	// Declares returns two facts about the store. The first is its name for messages, such as "PostgreSQL". The
	// second is whether it supports a rule of expiry. If not, the store answers [ErrUnsupported] to a record with
	// such a rule.
	Declares() (name string, expiry bool)
}

// Counting is a [Store] that itself counts the traffic of its tables. The store on Cloudflare Durable Objects does
// this, because no single server sees all requests there.
type Counting interface {
	// Traffic returns the traffic statistics of a table. The report does not contain the table's name.
	Traffic(ctx context.Context, t RecordKey) (*traffic.Report, error)
}

// Restoring is a [Store] that can restore a table to an earlier state. The store on Cloudflare Durable Objects can
// do this, because the platform keeps the earlier states of each object.
type Restoring interface {
	// Restore restores a table to an earlier state. The parameter to is the time of this state. For [UndoRestore] in
	// place of a time, Restore undoes the last restore. The result has one line for each part of the table: the name
	// of the part, a space, and [Restored], [Removed] or the reason why this part was not restored. The last line is
	// [RestoreEnded], or the reason why Restore must be called again to finish. Until the restore has ended, requests
	// to the table fail. If Restore returns an error because it refuses the restore, it has changed nothing.
	Restore(ctx context.Context, t RecordKey, to edm.Ticks) (did []byte, err error)
}

// UndoRestore is passed to Restore in place of a time. Restore then undoes the last restore, even an unfinished
// one.
const UndoRestore edm.Ticks = 0

// These words report the outcome of a restore, either for one part of a table or for the whole table; see
// [Restoring].
const (
	Restored          = "restored"
	Removed           = "removed" // this part of the table did not exist at the time of the restored state
	RestoreEnded      = "ended"
	RestoreWaits      = "waits" // followed by the number of seconds to wait before the next call
	RestoreUnfinished = "unfinished"
)

// Replicated is a [Store] that answers eventual reads from a replica and knows the age of the replica's data. A store
// without this interface answers eventual reads as it answers strong ones.
type Replicated interface {
	// Replication returns the state of the replica. It never fails: without new information, it returns the last
	// known state.
	Replication() Replication
}

// Replication is the state of a replica. Eventual reads see every write that returned before LastSync. While
// Status is Live, LastSync never decreases.
type Replication struct {
	Status   ReplicationStatus
	LastSync edm.Ticks // 0 means unknown
}

// ReplicationStatus is one of the three states in the answer to Get Table Service Stats.
type ReplicationStatus uint8

const (
	Live        ReplicationStatus = iota // the replica receives all writes of the primary
	Bootstrap                            // the replica does not have all data of the primary yet
	Unavailable                          // the replica is unreachable, or no longer receives writes
)

func (s ReplicationStatus) String() string { return [...]string{"live", "bootstrap", "unavailable"}[s] }
