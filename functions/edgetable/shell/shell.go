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

// patience is how long other programs that a command started may keep its input and output open after it has ended.
const patience = 5 * time.Second

// Run runs a command with an input. If ctx ends, so does the command, with all programs that it started and that belong
// to its process group.
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
		err = fmt.Errorf("it has ended, and a program that it started still has its input or output after %v", patience)
	}
	return err
}
