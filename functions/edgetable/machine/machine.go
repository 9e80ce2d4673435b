// Package machine determines the memory and processor limits of the process in a container or systemd unit, from its
// cgroup. The kernel kills a process that exceeds the memory limit.
package machine

import (
	"errors"
	"log/slog"
	"math"
	"runtime"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"go.uber.org/automaxprocs/maxprocs"
)

// Limits are the limits of the process. 0 means no limit.
type Limits struct {
	Memory     int64 // limit of the cgroup, in bytes
	Heap       int64 // memory for Go, in bytes; GOMEMLIMIT takes precedence
	Processors float64
	Files      int64 // memory in bytes for the data directory if it is on a tmpfs
}

// heapShare is the share of the memory for Go. Go does not count the rest: the program, socket buffers, and the page
// cache of files that are being written.
const heapShare = 0.75

// ApplyLimits reads the limits of the cgroup, and sets Go's memory limit and number of threads. GOMEMLIMIT and
// GOMAXPROCS take precedence. On a tmpfs, files in the data directory count as memory. ApplyLimits fails if they leave
// too little.
func ApplyLimits(environment func(string) string, data string, log *slog.Logger) (l Limits, err error) {
	_, err = maxprocs.Set(maxprocs.RoundQuotaFunc(func(quota float64) int {
		l.Processors = quota
		return threads(quota, runtime.NumCPU())
	}))
	if err != nil {
		log.Warn("the limit of processors cannot be read", "cause", err)
	}
	if l.Memory, err = memory(memlimit.FromCgroup()); err != nil {
		log.Warn("the limit of memory cannot be read: GOMEMLIMIT sets one", "cause", err)
	}
	rest := l.Memory
	if data != "" && l.Memory > 0 {
		if size, ok := tmpfs(data); ok {
			if l.Files, rest, err = inMemory(data, size, l.Memory); err != nil {
				return l, err
			}
		}
	}
	if environment("GOMEMLIMIT") == "" && l.Memory > 0 {
		debug.SetMemoryLimit(int64(float64(rest) * heapShare))
	}
	if l.Heap = debug.SetMemoryLimit(-1); l.Heap == math.MaxInt64 {
		l.Heap = 0
	}
	if l.Memory > 0 && l.Memory < leastMemory {
		log.Warn("the server has less memory than it needs under load: give it 128 MiB or more", "memory_mib", l.Memory>>20)
	}
	return l, nil
}

// threads returns the value of GOMAXPROCS for a processor quota. This is the quota, rounded up, but not more than the
// number of processors.
func threads(quota float64, processors int) int {
	return max(1, min(int(math.Ceil(quota)), processors))
}

// memory returns the memory limit of the process. It returns 0 if the process has no limit or no cgroup, or if the
// system is not Linux.
func memory(limit uint64, err error) (int64, error) {
	switch {
	case errors.Is(err, memlimit.ErrNoLimit), errors.Is(err, memlimit.ErrNoCgroup), errors.Is(err, memlimit.ErrCgroupsNotSupported):
		return 0, nil
	case err != nil:
		return 0, err
	}
	return int64(min(limit, math.MaxInt64)), nil
}
