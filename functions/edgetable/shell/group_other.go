//go:build !unix

package shell

import "os/exec"

// group does nothing on this system. If a command is killed, programs that it started continue
// to run.
func group(*exec.Cmd) {}
