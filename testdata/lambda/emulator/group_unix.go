//go:build unix

package emulator

import (
	"os/exec"
	"syscall"
)

// ownGroup puts a process in a group of its own, with what it starts.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// endGroup ends it and what it has started.
func endGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may have ended already
}
