package observe

import (
	"sync/atomic"
	"time"

	"edgetable/core/edm"
	"edgetable/core/throttle"
)

// lineLimiter limits the rate of log lines that clients can cause, so that clients cannot fill a disk.
type lineLimiter struct {
	each, all *throttle.Buckets
	left      atomic.Int64 // number of lines that were suppressed after the last written line
}

func newSparing(each, all throttle.Options) *lineLimiter {
	each.Now, all.Now = ticks, ticks
	return &lineLimiter{each: throttle.New(each), all: throttle.New(all)}
}

// allow reports whether a line may be written, and how many lines were suppressed after the last written line. Each key
// has a separate limit.
func (s *lineLimiter) allow(key string) (left int64, ok bool) {
	if s.each.Take(key, 1) > 0 || s.all.Take("", 1) > 0 {
		s.left.Add(1)
		return 0, false
	}
	return s.left.Swap(0), true
}

func ticks() edm.Ticks { return edm.TicksOf(time.Now()) }
