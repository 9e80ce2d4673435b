// Package proc runs programs for tests, with their logs, certificates and disks. Tests that
// are a module of their own cannot import it.
package proc

import (
	"bufio"
	"context"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"edgetable/testdata/must"
)

// Process is a program that runs until the test ends.
type Process struct {
	*exec.Cmd
	Lines []string // of its output, up to the one that Start waited for
	Log   *Buffer  // standard error, and output after these lines
}

// Start starts a program and waits for a line that begins with a text. With no text, it does not wait. A program that prints
// no such line ends shortly before the time of the test does, and the test shows what it printed instead.
func Start(t testing.TB, line string, c *exec.Cmd) *Process {
	t.Helper()
	p := &Process{Cmd: c, Log: Log(t)}
	c.Stderr = p.Log
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM) // it may have ended
		defer killed(t, c)()
		_ = c.Wait() // however it ends
	})
	defer killed(t, c)()
	lines := bufio.NewScanner(out)
	for line != "" && lines.Scan() {
		p.Lines = append(p.Lines, lines.Text())
		if strings.HasPrefix(lines.Text(), line) {
			line = ""
		}
	}
	if line != "" {
		t.Fatalf("%q did not start:\n%s\n%s", c.Args, strings.Join(p.Lines, "\n"), p.Log)
	}
	go func() { _, _ = io.Copy(p.Log, out) }()
	return p
}

// killed has a process killed shortly before the time of the test ends, unless it is stopped.
func killed(t testing.TB, c *exec.Cmd) (stop func()) {
	ctx, cancel := must.Patience(t)
	end := context.AfterFunc(ctx, func() { _ = c.Process.Kill() })
	return func() { end(); cancel() }
}

// Value returns what follows a label at the beginning of a line.
func (p *Process) Value(t testing.TB, label string) string {
	t.Helper()
	for _, line := range p.Lines {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), label+" "); ok {
			return strings.TrimSpace(text)
		}
	}
	t.Fatalf("%q printed no %q:\n%s", p.Args, label, strings.Join(p.Lines, "\n"))
	return ""
}
