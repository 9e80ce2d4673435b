//go:build unix

package shell

import (
	"os/exec"
	"syscall"
)

// group puts a command into a process group of its own, which is killed as a whole.
func group(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}
