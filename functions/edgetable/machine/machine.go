// Package machine finds how much memory and how many processors a container or systemd unit allows this process.
// These are limits of its cgroup, version 1 or 2. The kernel kills a process that exceeds its memory limit.
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

// Limits says what the process may use. 0 means no limit.
type Limits struct {
	Memory     int64 // limit of the cgroup in bytes
	Heap       int64 // the part of it that Go may use, or the value of GOMEMLIMIT
	Processors float64
	Files      int64 // the part for the files of the data directory, if that is in memory
}

// heapShare is the share of the memory that Go may use. The rest is for memory that Go does not count: the program
// itself, connection buffers, and pages of files being written.
const heapShare = 0.75

// Take finds the limits and applies them to Go's memory and threads. GOMEMLIMIT and GOMAXPROCS take precedence. It
// fails if the files of the data directory would take memory that the process needs. data is "" if there is no data
// directory.
func Take(environment func(string) string, data string, log *slog.Logger) (l Limits, err error) {
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

// threads returns how many threads may run Go code at once: the quota, rounded up.
func threads(quota float64, processors int) int {
	return max(1, min(int(math.Ceil(quota)), processors))
}

// memory returns the limit, or 0. Outside of Linux or a cgroup there is no limit.
func memory(limit uint64, err error) (int64, error) {
	switch {
	case errors.Is(err, memlimit.ErrNoLimit), errors.Is(err, memlimit.ErrNoCgroup), errors.Is(err, memlimit.ErrCgroupsNotSupported):
		return 0, nil
	case err != nil:
		return 0, err
	}
	return int64(min(limit, math.MaxInt64)), nil
}
