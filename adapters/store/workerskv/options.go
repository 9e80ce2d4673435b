package workerskv

import (
	"errors"

	"edgetable/core/edm"
)

// Options configure a [Store]. Namespace and Now are required.
type Options struct {
	Namespace Namespace
	// Now is the wall clock. The clocks of isolates may differ by a few seconds.
	Now func() edm.Ticks
	// BestEffort permits inserts, ETags and batches without guarantees. Conditions are checked against a state that may
	// be a minute old, and a batch may be applied in part.
	BestEffort bool
	// Calls is the maximum number of KV calls for one page of a scan. The platform permits 1,000 calls per invocation.
	// 0 means 500. The minimum is 8.
	Calls int
}

const (
	defaultCalls = 500
	minCalls     = 8
)

var errOptions = errors.New("workerskv: Namespace and Now are required")

// callsPerPage returns Options.Calls with its default and minimum applied.
func callsPerPage(n int) int {
	if n <= 0 {
		return defaultCalls
	}
	return max(n, minCalls)
}
