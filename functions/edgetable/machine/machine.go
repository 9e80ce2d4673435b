// Package machine finds what this process may use of its machine: the memory and the
// processors that a container or a unit of systemd leaves it. They are limits of its cgroup,
// of version 1 or 2. The kernel ends a process that takes more memory.
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

// Limits are what the process may use. 0 is no limit.
type Limits struct {
	Memory     int64 // bytes, as its cgroup has them
	Heap       int64 // bytes that Go may use of it, or what GOMEMLIMIT says
	Processors float64
}

// heapShare of the memory is for Go. The rest is for what Go does not count: the program itself, buffers of
// connections and pages of files that are being written.
const heapShare = 0.75

// leastMemory is the least with which a server was tried under load.
const leastMemory = 128 << 20

// Take finds the limits, and bounds by them the memory and the processors that Go uses. GOMEMLIMIT and GOMAXPROCS take
// precedence.
func Take(environment func(string) string, log *slog.Logger) (l Limits) {
	_, err := maxprocs.Set(maxprocs.RoundQuotaFunc(func(quota float64) int {
		l.Processors = quota
		return threads(quota, runtime.NumCPU())
	}))
	if err != nil {
		log.Warn("the limit of processors cannot be read", "cause", err)
	}
	if l.Memory, err = memory(memlimit.FromCgroup()); err != nil {
		log.Warn("the limit of memory cannot be read: GOMEMLIMIT sets one", "cause", err)
	}
	if environment("GOMEMLIMIT") == "" && l.Memory > 0 {
		debug.SetMemoryLimit(int64(float64(l.Memory) * heapShare))
	}
	if l.Heap = debug.SetMemoryLimit(-1); l.Heap == math.MaxInt64 {
		l.Heap = 0
	}
	if l.Memory > 0 && l.Memory < leastMemory {
		log.Warn("there is less memory than the server needs under load: give it 128 MiB or more", "memory_mib", l.Memory>>20)
	}
	return l
}

// threads is how many processors Go may use at once: those of the quota, the last one in part.
func threads(quota float64, processors int) int {
	return max(1, min(int(math.Ceil(quota)), processors))
}

// memory is the limit that was found. There is none outside of Linux, and outside of a cgroup.
func memory(limit uint64, err error) (int64, error) {
	switch {
	case errors.Is(err, memlimit.ErrNoLimit), errors.Is(err, memlimit.ErrNoCgroup), errors.Is(err, memlimit.ErrCgroupsNotSupported):
		return 0, nil
	case err != nil:
		return 0, err
	}
	return int64(min(limit, math.MaxInt64)), nil
}
