package table

import (
	"context"

	"edgetable/core/edm"
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

// Counting is a [Store] that counts the traffic of its tables itself, as objects on
// Workers do, because no server sees all requests.
type Counting interface {
	// Traffic returns the statistics of some of the buckets of a table, from one on, in
	// the form of traffic.ReadBuckets, and the bucket to go on with; 0 is the end.
	Traffic(ctx context.Context, t RecordKey, from uint16) (part []byte, next uint16, err error)
}

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
