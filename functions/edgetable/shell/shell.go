// Package shell runs shell commands of the user.
package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"time"
)

// patience is how long Run waits, after a command has ended, for child processes that still use its input or output.
const patience = 5 * time.Second

// Run runs a shell command. If ctx is canceled, Run kills the command and, on Unix, its process group.
func Run(ctx context.Context, command string, in io.Reader, out, errs io.Writer) error {
	return run(ctx, patience, command, in, out, errs)
}

func run(ctx context.Context, patience time.Duration, command string, in io.Reader, out, errs io.Writer) error {
	words := []string{"/bin/sh", "-c"}
	if runtime.GOOS == "windows" {
		words = []string{"cmd", "/C"}
	}
	c := exec.CommandContext(ctx, words[0], words[1], command)
	c.Stdin, c.Stdout, c.Stderr, c.WaitDelay = in, out, errs, patience
	group(c)
	err := c.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = fmt.Errorf("the command has ended, but a program that it started still uses its input or output after %v", patience)
	}
	return err
}
