package dynamodb

import (
	"context"
	"encoding/binary"
	"strconv"
	"time"

	"edgetable/adapters/store/dynamodb/internal/call"
	"edgetable/adapters/store/dynamodb/internal/clock"
	"edgetable/core/buckets"
	"edgetable/core/edm"
	"edgetable/core/table"
)

// Store is a [table.Store] on one DynamoDB table. [New] returns a Store.
type Store struct {
	db     *call.Table
	clock  clock.Clock
	leases leases
	drops  watch
	seals  watch

	buckets  uint16
	deadline time.Duration
	now      func() edm.Ticks
	elapsed  func() time.Duration
	rand     func() uint64
	sleep    func(context.Context, time.Duration) error
	scanned  func(buckets.Cost)
}

var _ table.Store = (*Store)(nil)

// Declares implements [table.Declaring].
func (*Store) Declares() (name string, expiry bool) { return "DynamoDB", true }

// New returns a Store. It makes no calls.
func New(o Options) (*Store, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Store{
		db: call.New(call.Options{
			Client: o.Client, Name: o.Table, Attempt: o.Attempt, Now: o.Now, Rand: o.Rand, Sleep: o.Sleep, Observer: o.Observer,
		}),
		clock:    clock.Clock{Now: o.Now, Rand: o.Rand},
		leases:   leases{now: o.Now, elapsed: o.Elapsed, length: max(o.Lease, 0)},
		buckets:  o.Buckets,
		deadline: o.Deadline,
		now:      o.Now,
		elapsed:  o.Elapsed,
		rand:     o.Rand,
		sleep:    o.Sleep,
		scanned:  o.Scanned,
	}, nil
}

func (s *Store) begin(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.deadline)
	return ctx, cancel, nil
}

// newRevision returns a random revision, so that no two states of a record have the same revision, even if the record
// is removed and created again.
func (s *Store) newRevision() table.Revision {
	return table.Revision(strconv.FormatUint(s.rand(), 36) + "-" + strconv.FormatUint(s.rand(), 36))
}

func (s *Store) newVersion() (v version) {
	binary.BigEndian.PutUint64(v[:8], s.rand())
	binary.BigEndian.PutUint64(v[8:], s.rand())
	return v
}
