//go:build unix

package shell

import (
	"os/exec"
	"syscall"
)

// group makes the command start in a new process group. If the command is cancelled, all
// processes of this group are killed.
func group(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}
