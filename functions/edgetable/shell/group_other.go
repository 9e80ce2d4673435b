//go:build !unix

package shell

import "os/exec"

// group does nothing on this operating system. Child processes of a killed command continue to run.
func group(*exec.Cmd) {}
