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
	// BestEffort permits what KV cannot guarantee: conditions are judged by the state
	// that KV shows, which may be a minute old, and a batch may be applied in part.
	// Without it, inserts, ETags and batches are refused with [table.ErrUnsupported].
	BestEffort bool
	// Calls is the maximum number of KV calls of one page of a scan; the platform permits 1,000 per invocation. 0
	// means 500; the minimum is 8.
	Calls int
}

const (
	defaultCalls = 500
	minCalls     = 8
)

var errOptions = errors.New("workerskv: Namespace and Now are required")

// callsPerPage applies the default and the minimum. Every page needs two lists.
func callsPerPage(n int) int {
	if n <= 0 {
		return defaultCalls
	}
	return max(n, minCalls)
}
