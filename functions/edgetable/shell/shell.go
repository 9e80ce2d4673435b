// Package shell runs commands that a user wrote for a shell.
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

// After a command has ended, programs that the command started may still have the command's input or output open. Run
// waits for such programs for this time.
const patience = 5 * time.Second

// Run runs a command in a shell. If ctx ends, Run kills the command and, on Unix, all processes of the command's
// process group.
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
