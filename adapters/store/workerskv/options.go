package workerskv

import (
	"context"
	"errors"
	"time"

	"edgetable/core/edm"
)

// Options of a [Store]. Namespace, Now and Pause are required.
type Options struct {
	Namespace Namespace
	// Now is the wall clock. Isolates whose clocks differ by seconds lose
	// nothing but the order of what they write at the same time.
	Now func() edm.Ticks
	// Pause waits, or until ctx ends. A name takes one write a second, so that
	// the next has to wait, and others wait for it.
	Pause func(ctx context.Context, d time.Duration)

	// SingleWriter declares that at any time only one isolate writes, and that
	// another may only take its place after a minute or two without writes. It is
	// the same in all Workers of the namespace, for good: who is not told does not
	// look into journals, for what transactions wrote. Nothing checks it.
	SingleWriter bool

	// Interval is how long a name rests between writes. 0 is the second that
	// Workers KV asks for: with less it refuses writes. What stands in for it on a
	// developer's machine asks for nothing.
	Interval time.Duration
	// Calls is how many calls of the namespace one page of a scan may make: an
	// invocation has 1,000. 0 is 500; fewer than 8 are 8.
	Calls int
	// Memory is how many bytes are kept of what was written in the last two
	// minutes. Beyond it a single writer is told to slow down, and others see older
	// states of what they wrote. 0 is 32 MiB.
	Memory int
	// Patience is how long a write waits for its turn where its context does not
	// say, 0 is 10 s.
	Patience time.Duration
}

const (
	defaultCalls    = 500
	minCalls        = 8
	defaultMemory   = 32 << 20
	defaultPatience = 10 * time.Second
)

var errOptions = errors.New("workerskv: Namespace, Now and Pause are required")

func (o Options) withDefaults() (Options, error) {
	if o.Namespace == nil || o.Now == nil || o.Pause == nil {
		return o, errOptions
	}
	if o.Interval <= 0 {
		o.Interval = duration(interval)
	}
	o.Calls = calls(o.Calls)
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	if o.Patience <= 0 {
		o.Patience = defaultPatience
	}
	return o, nil
}

// calls is what an option of calls means. A page has to list twice to begin with.
func calls(n int) int {
	if n <= 0 {
		return defaultCalls
	}
	return max(n, minCalls)
}

// ticks is a duration in the unit of the clock.
func ticks(d time.Duration) edm.Ticks { return edm.Ticks(d / 100) }

func duration(t edm.Ticks) time.Duration { return time.Duration(t) * 100 }
