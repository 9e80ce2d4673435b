package proc

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"edgetable/testdata/must"
)

// Memory returns a memory counter of a running program in KiB. Its name is VmHWM, RssAnon, or another name in
// /proc/PID/status.
func Memory(t testing.TB, c *exec.Cmd, counter string) (kib float64) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Process.Pid))
	must.OK(t, err)
	_, rest, _ := strings.Cut(string(status), "\n"+counter+":")
	_, err = fmt.Sscan(rest, &kib)
	must.OK(t, err)
	return kib
}
