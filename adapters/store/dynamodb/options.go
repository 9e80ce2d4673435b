package dynamodb

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"edgetable/adapters/store/dynamodb/internal/call"
	"edgetable/adapters/store/dynamodb/rebucket"
	"edgetable/core/buckets"
	"edgetable/core/edm"
)

// Options configure a store. Client and Table are required.
type Options struct {
	// Client must be configured for the Region of the table. The store uses a copy of it without retries, because the
	// store retries calls itself.
	Client *dynamodb.Client
	// Table is the name of the DynamoDB table. [Create] creates such a table.
	Table string
	// Buckets is the number of buckets of a new table; 0 means 8. Each bucket accepts 1,000 writes per second, and
	// needs one call in a scan of the whole table.
	Buckets uint16
	// Lease is how long the record of a table may be cached; 0 means 2 seconds. It must be the same in all processes
	// that share the table. Deleting a table takes at least this time; see MaxLease.
	//
	// If Lease is negative, nothing is cached, and every operation on entities needs one more read.
	Lease time.Duration
	// Deadline limits every operation, unless the context has an earlier deadline. The default is 30 s; the maximum is
	// ten minutes.
	Deadline time.Duration
	// Attempt limits one call to DynamoDB; 0 means 5 seconds.
	Attempt time.Duration
	// Scanned, if not nil, is called with the cost of each scan.
	Scanned func(buckets.Cost)
	// Observer receives the calls to DynamoDB.
	Observer Observer
	// Now is the clock for Timestamps and, together with Elapsed, for leases. A nil Now means the machine's clock.
	Now func() edm.Ticks
	// Elapsed is a monotonic clock with any origin. A nil Elapsed means the machine's clock.
	Elapsed func() time.Duration
	// Rand returns random bits. A nil Rand means a generator seeded by the system.
	Rand func() uint64
	// Sleep waits between attempts and until leases end. If ctx ends first, Sleep returns the error of ctx. A nil Sleep
	// means a real timer.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Observer receives the calls that a store makes.
type Observer = call.Observer

// Observation describes one call.
type Observation = call.Observation

// MaxBuckets is the maximum value of Options.Buckets.
const MaxBuckets = rebucket.MaxBuckets

// MaxLease is the maximum lease that a program should accept from its operator.
const MaxLease = 10 * time.Second

const (
	defaultBuckets  = 8
	defaultLease    = 2 * time.Second
	defaultDeadline = 30 * time.Second
	maxDeadline     = 10 * time.Minute
	defaultAttempt  = 5 * time.Second

	// leaseMargin is added to the duration of leases. It allows for clocks that run at different speeds, and for the
	// time that a call takes to return.
	leaseMargin = 200 * time.Millisecond
)

var errOptions = errors.New("dynamodb: Client and Table are required, and a Deadline is at most ten minutes")

func (o Options) withDefaults() (Options, error) {
	if o.Client == nil || o.Table == "" || o.Deadline > maxDeadline {
		return o, errOptions
	}
	o.Buckets = cmp.Or(o.Buckets, defaultBuckets)
	o.Lease = cmp.Or(o.Lease, defaultLease)
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
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
