//go:build unix

package emulator

import (
	"os/exec"
	"syscall"
)

// ownGroup puts a process and its children into a separate process group.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// endGroup ends a process and its children.
func endGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // an error is ignored, because it means that the process has already ended
}
