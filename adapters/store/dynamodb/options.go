package dynamodb

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/buckets"
	"edgetable/core/edm"
)

// Options of a store. Client and Table are required.
type Options struct {
	// Client reaches the Region of the table. The store makes its own from this
	// one's options, without the SDK's retries: it knows what may be sent again.
	Client *dynamodb.Client
	// Table is the DynamoDB table, as [Create] makes it.
	Table string
	// Buckets is the number of hash keys that a new table is spread over. Each
	// takes 1,000 writes a second, and each costs a scan of the whole table a call more. 0 is 8.
	Buckets uint16
	// Lease is how long the record of a table may be cached: so long a DELETE of
	// a table takes at least. 0 is 2 seconds; negative caches nothing, and every
	// operation on entities costs a read more. Processes that share the table have
	// the same. Above MaxLease a DELETE takes longer than clients wait for it.
	Lease time.Duration
	// Deadline bounds every operation whose context has no earlier one; 0 is 30 s.
	// It is at most ten minutes.
	Deadline time.Duration
	// Attempt bounds one call; 0 is 5 seconds.
	Attempt time.Duration
	// Scanned, if not nil, is told what each scan cost.
	Scanned func(buckets.Cost)
	// Now is the clock behind Timestamps and, together with Elapsed, leases; nil
	// is the clock of the machine.
	Now func() edm.Ticks
	// Elapsed is a clock that never goes back, from any origin; nil is the
	// machine's.
	Elapsed func() time.Duration
	// Rand returns random bits; nil is a generator seeded by the system.
	Rand func() uint64
	// Sleep waits between attempts and for leases to end, or returns the error of
	// ctx; nil waits.
	Sleep func(ctx context.Context, d time.Duration) error
}

// MaxBuckets is the highest number of Buckets.
const MaxBuckets = rebucket.MaxBuckets

// MaxLease is the longest Lease that programs should offer.
const MaxLease = 10 * time.Second

const (
	defaultBuckets  = 8
	defaultLease    = 2 * time.Second
	defaultDeadline = 30 * time.Second
	maxDeadline     = 10 * time.Minute
	defaultAttempt  = 5 * time.Second

	// leaseMargin is what clocks may differ in rate and calls may take to return
	// beyond a lease.
	leaseMargin = 200 * time.Millisecond
)

var errOptions = errors.New("dynamodb: Client and Table are required, and a Deadline is at most ten minutes")

func (o Options) withDefaults() (Options, error) {
	if o.Client == nil || o.Table == "" || o.Deadline > maxDeadline {
		return o, errOptions
	}
	if o.Buckets == 0 {
		o.Buckets = defaultBuckets
	}
	if o.Lease == 0 {
		o.Lease = defaultLease
	}
	if o.Deadline <= 0 {
		o.Deadline = defaultDeadline
	}
	if o.Attempt <= 0 {
		o.Attempt = defaultAttempt
	}
	if o.Now == nil {
		o.Now = func() edm.Ticks { return edm.TicksOf(time.Now()) }
	}
	if o.Elapsed == nil {
		start := time.Now()
		o.Elapsed = func() time.Duration { return time.Since(start) }
	}
	if o.Rand == nil {
		o.Rand = rand.Uint64
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	return o, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
