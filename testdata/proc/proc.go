// Package proc runs programs for tests, with their logs, certificates and disks. Tests in separate modules cannot
// import it.
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
	Lines []string // lines of standard output, until the line for which Start waited
	Log   *Buffer  // standard error, and later lines of standard output
}

// Start starts a program and waits for a line that begins with a text. If the text is empty, Start does not wait.
// If the program prints no such line, Start kills it shortly before the deadline of the test, and the test shows
// its output.
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
		_ = c.Process.Signal(syscall.SIGTERM) // an error is ignored, because it means that the process has already ended
		defer killed(t, c)()
		_ = c.Wait() // an error is ignored, because the exit status does not matter
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

// killed arranges that the process is killed shortly before the test's deadline. The result stop cancels this.
func killed(t testing.TB, c *exec.Cmd) (stop func()) {
	ctx, cancel := must.Patience(t)
	end := context.AfterFunc(ctx, func() { _ = c.Process.Kill() })
	return func() { end(); cancel() }
}

// Value returns the text after a label at the beginning of a line.
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
