//go:build !unix

package shell

import "os/exec"

// group does nothing on this system: if the command is killed, programs that it started keep
// running.
func group(*exec.Cmd) {}
