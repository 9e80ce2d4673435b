package suite

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// usage is processor time in kernel ticks (10 ms). One field is that of the whole machine, including time stolen
// by the hypervisor; the other is that of this program and its servers.
type usage struct{ all, own int64 }

// usageNow reads the counters; they are zero if /proc does not have them.
func usageNow(children []*child) usage {
	var u usage
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return u
	}
	// the fields of this line are: cpu user nice system idle iowait irq softirq steal …
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

// foreign returns the share of the machine's processors that other programs used between two readings, which are
// seconds apart; 0.5 is half of all cores. If this share is large, the results mean little.
func (u usage) foreign(later usage, seconds float64) float64 {
	others := (later.all - u.all) - (later.own - u.own)
	return max(0, float64(others)/100/seconds/float64(runtime.NumCPU()))
}
