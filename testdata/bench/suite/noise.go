package suite

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// usage is processor time in the kernel's ticks (10 ms): of the whole machine, time stolen by the hypervisor included,
// and of this program with its servers.
type usage struct{ all, own int64 }

// usageNow reads the counters; zero where /proc does not tell.
func usageNow(children []*child) usage {
	var u usage
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return u
	}
	// cpu user nice system idle iowait irq softirq steal …
	line, _, _ := strings.Cut(string(b), "\n")
	for i, f := range strings.Fields(line) {
		if n, err := strconv.ParseInt(f, 10, 64); err == nil && i >= 1 && i <= 8 && i != 4 && i != 5 {
			u.all += n
		}
	}
	var self syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &self) == nil {
		u.own = (self.Utime.Nano() + self.Stime.Nano()) / 1e7
	}
	for _, c := range children {
		u.own += c.cpuTicks()
	}
	return u
}

// foreign is the share of the machine's processors that others took between two readings, seconds apart: 0.5 is half of
// all cores. Numbers measured beside a busy neighbour say little.
func (u usage) foreign(later usage, seconds float64) float64 {
	others := (later.all - u.all) - (later.own - u.own)
	return max(0, float64(others)/100/seconds/float64(runtime.NumCPU()))
}
