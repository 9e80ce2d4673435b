package server

import (
	"errors"
	"runtime"
	"strconv"
	"strings"
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

type protectFlags struct {
	limits   limits
	requests int  // maximum number of waiting requests
	remote   bool // true if the store is on another machine
}

// limits contains maximum rates per second.
type limits struct {
	setting.Rates
	failures float64 // maximum rate of failed authentications per client address; 0 means no limit
}

// usualFailures is the default limit of failed authentications per second. It permits retries of clients with a wrong
// key, but is far too low to guess a key.
const usualFailures = 100

// parseLimits parses the rates that setting.ParseRates accepts, and failures=N.
func parseLimits(text string) (limits, error) {
	l, rates := limits{failures: usualFailures}, []string{}
	for part := range strings.SplitSeq(text, ",") {
		value, ok := strings.CutPrefix(strings.TrimSpace(part), "failures=")
		if !ok {
			rates = append(rates, part)
			continue
		}
		n, err := setting.Number(value, 0, 1e9)
		if err != nil {
			return l, errors.New("failures=N: " + err.Error())
		}
		l.failures = n
	}
	if len(rates) == 0 {
		return l, nil
	}
	var err error
	l.Rates, err = setting.ParseRates(strings.Join(rates, ","))
	return l, err
}

// String formats the limits in the form that parseLimits accepts.
func (l limits) String() string {
	if l.failures == usualFailures {
		return l.Rates.String()
	}
	return l.Rates.String() + ",failures=" + strconv.FormatFloat(l.failures, 'f', -1, 64)
}

func (o *protectFlags) register(f *pflag.FlagSet) {
	o.limits.failures = usualFailures
	cli.ValueFlag(f, &o.limits, "limits", "rates", "maximum `rates` in operations per second: none, azure (account=20000,partition=2000), or account=N,partition=N; above them, the response is 503 ServerBusy; "+
		"failures=N limits the failed authentications of a client address (IPv6: /64), with bursts of up to ten times N; default 100, 0 means no limit", parseLimits, limits.String)
	cli.IntFlag(f, &o.requests, "max-requests", usualRequests, 1, maxRequests, "maximum `number` of waiting requests; above it, the response is 503 ServerBusy; at most 64 writes and four reads per CPU run at the same time; "+
		"with --store "+cli.OneOf(stores.Remote())+", at most N/16 writes and N/16 reads of --max-requests N")
}

// usualRequests is the default maximum number of waiting requests. A request waits a few hundred milliseconds at most
// in a queue of this length.
const usualRequests = 8192

// maxRequests is the maximum value of --max-requests. No machine can serve more requests.
const maxRequests = 1 << 20

// slots returns how many writes and how many reads may run concurrently. A remote store has more slots, because
// requests mostly wait for the network.
func (o *protectFlags) slots() (writes, reads int) {
	if o.remote {
		n := max(1, o.requests/16)
		return n, n
	}
	return min(64, o.requests), min(4*runtime.GOMAXPROCS(0), o.requests)
}

// Maximum numbers of token buckets, each of which takes about 100 bytes of memory.
const (
	accountBuckets   = 1 << 10
	partitionBuckets = 1 << 17
	sourceBuckets    = 1 << 16
)

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
		Failures:  make(o.limits.failures, 10*o.limits.failures, sourceBuckets),
	}
}

// limiter returns the admission queue in front of h. The queue shares the slots fairly among accounts.
func (o *protectFlags) limiter(h *protocol.Handler) *admission.Limiter {
	writes, reads := o.slots()
	return admission.New(h, admission.Options{Concurrent: writes, MaxReads: reads, Queue: o.requests, MaxWait: maxWait})
}

// maxWait is the maximum time that a request waits in the queue. It is longer than usual disk stalls and shorter than
// client timeouts.
const maxWait = time.Second
