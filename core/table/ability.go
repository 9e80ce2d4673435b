package table

import (
	"context"

	"edgetable/core/edm"
	"edgetable/core/traffic"
)

// As returns the store as a T, an interface that names an ability beside the port,
// such as [Counting]. It looks through wrappers, as errors.As does: a Store around
// another one that changes only a part of it has a method Unwrap() Store, and
// implements an ability itself only where it changes that.
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

// Declaring is a [Store] whose tables can declare something about their entities.
type Declaring interface {
	// Declares returns the name of the store for messages, such as "PostgreSQL", and whether
	// it keeps [Traits] with a rule of expiry. If not, it answers [ErrUnsupported] to a record
	// with traits.
	Declares() (name string, expiry bool)
}

// Counting is a [Store] that counts the traffic of its tables itself, as objects on
// Workers do, because no server sees all requests.
type Counting interface {
	// Traffic returns the statistics of a table, without its name.
	Traffic(ctx context.Context, t RecordKey) (*traffic.Report, error)
}

// Restoring is a [Store] that can put the entities of a table back to what they were, as
// objects on Workers can, whose earlier states the platform keeps.
type Restoring interface {
	// Restore puts a table back to what it was at a time, or with [UndoRestore] to what it
	// was before. It returns what became of each of its parts: a line with its name, a space, and
	// [Restored], [Removed] or why it is neither; and a last line with [RestoreEnded], or with why
	// another call must finish it. Meanwhile the table is not served. After a refusal nothing was
	// changed.
	Restore(ctx context.Context, t RecordKey, to edm.Ticks) (did []byte, err error)
}

// UndoRestore is the time that has Restore undo the last restore, or one that has begun.
const UndoRestore edm.Ticks = 0

// What became of a part of a table, and of a restore.
const (
	Restored          = "restored"
	Removed           = "removed" // the table did not have it at that time
	RestoreEnded      = "ended"
	RestoreWaits      = "waits" // and for how many seconds the caller should wait
	RestoreUnfinished = "unfinished"
)

// Replicated is a [Store] whose eventual reads are answered by a replica, which knows
// how old it is. A store without this ability answers them like strong ones.
type Replicated interface {
	// Replication reports the state of the replica. It does not fail: without news it
	// reports what it knew last.
	Replication() Replication
}

// Replication is the state of a replica. Every write that returned before LastSync is
// visible to eventual reads; LastSync never goes back while the status is Live.
type Replication struct {
	Status   ReplicationStatus
	LastSync edm.Ticks // 0: not known
}

// ReplicationStatus is one of the three words that Get Table Service Stats has.
type ReplicationStatus uint8

const (
	Live        ReplicationStatus = iota // follows the primary
	Bootstrap                            // does not have all data yet
	Unavailable                          // cannot say, or does not follow
)

func (s ReplicationStatus) String() string { return [...]string{"live", "bootstrap", "unavailable"}[s] }
