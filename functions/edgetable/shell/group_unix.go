//go:build unix

package shell

import (
	"os/exec"
	"syscall"
)

// group starts the command in a new process group. A cancellation kills all processes of this
// group.
func group(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}
