package server

import (
	"time"

	"github.com/spf13/pflag"

	"edgetable/adapters/guard/admission"
	"edgetable/adapters/setting"
	"edgetable/core/edm"
	"edgetable/core/protocol"
	"edgetable/core/throttle"
	"edgetable/functions/edgetable/cli"
	"edgetable/functions/edgetable/stores"
)

// protectFlags bound what clients can ask of the server.
type protectFlags struct {
	limits     setting.Rates
	concurrent int
	reads      int
	queue      int
	maxWait    time.Duration
	failures   float64

	connections int
}

func (o *protectFlags) register(f *pflag.FlagSet) {
	cli.RatesFlag(f, &o.limits, "limits", "`rates` per second beyond which the answer is 503 ServerBusy: none, azure (account=20000,partition=2000), or account=N,partition=N")
	cli.IntFlag(f, &o.concurrent, "concurrent", 64, 1, maxRequests, "how many requests that may write are served at once; others wait in the queue of their account; 512 with --store "+cli.OneOf(stores.Remote()))
	cli.IntFlag(f, &o.reads, "reads", 0, 0, maxRequests, "how many requests that read are served at once; 0 means four per processor, 512 with --store "+cli.OneOf(stores.Remote()))
	cli.IntFlag(f, &o.queue, "queue", 8192, 0, maxRequests, "how many requests may wait; beyond that the answer is 503 ServerBusy")
	cli.DurationFlag(f, &o.maxWait, "max-wait", time.Second, time.Nanosecond, cli.MaxTime, "how long a request may wait before the answer is 503 ServerBusy")
	cli.NumberFlag(f, &o.failures, "max-failures", 100, 0, 1e9, "limit of failed sign-ins per second per client address (of IPv6: /64), ten times as many at once; 0 does not limit")
	cli.IntFlag(f, &o.connections, "max-connections", 0, 0, maxRequests, "how many connections of clients may be open, shared by addresses (of IPv6: /64) and accounts; the one idle for longest is closed for a new one; 0 means what memory and descriptors allow")
}

// maxRequests is more than any machine serves at once.
const maxRequests = 1 << 20

// remoteRequests is the default of --concurrent and --reads for stores on another machine,
// where a request mostly waits for the network.
const remoteRequests = 512

// wait sets the defaults for a store on another machine.
func (o *protectFlags) wait(given func(flag string) bool) {
	if !given("concurrent") {
		o.concurrent = remoteRequests
	}
	if !given("reads") {
		o.reads = remoteRequests
	}
}

// Memory for buckets, at about 100 bytes each.
const (
	accountBuckets   = 1 << 10
	partitionBuckets = 1 << 17
	sourceBuckets    = 1 << 16
)

// buckets are the limits of a protocol handler.
func (o *protectFlags) buckets(now func() edm.Ticks) protocol.Limits {
	make := func(rate float64, burst float64, keys int) protocol.Limiter {
		if rate == 0 {
			return nil
		}
		return throttle.New(throttle.Options{Rate: rate, Burst: burst, Keys: keys, Now: now})
	}
	return protocol.Limits{
		Account:   make(o.limits.Account, o.limits.Account, accountBuckets),
		Partition: make(o.limits.Partition, o.limits.Partition, partitionBuckets),
		Failures:  make(o.failures, 10*o.failures, sourceBuckets),
	}
}

// limiter shares the slots among the accounts of a handler.
func (o *protectFlags) limiter(h *protocol.Handler) *admission.Limiter {
	queue := o.queue
	if queue == 0 {
		queue = -1 // none
	}
	return admission.New(h, admission.Options{
		Concurrent: o.concurrent, Reads: o.reads, Queue: queue, MaxWait: o.maxWait,
	})
}
