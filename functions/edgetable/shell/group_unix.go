//go:build unix

package shell

import (
	"os/exec"
	"syscall"
)

// group starts the command in a process group, which is killed if the command is canceled.
func group(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}
