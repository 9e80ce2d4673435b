//go:build unix

package shell

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"edgetable/testdata/must"
)

// told is a writer. Its first Write closes the channel, so that a test can wait for output.
type told chan struct{}

func (c told) Write(p []byte) (int, error) {
	close(c)
	return len(p), nil
}

// child returns a command that starts a program in the background. This program keeps the command's output
// open until end is called.
func child(t *testing.T) (command string, end func()) {
	t.Helper()
	pipe := filepath.Join(t.TempDir(), "pipe")
	must.OK(t, syscall.Mkfifo(pipe, 0o600))
	return "(read -r line < '" + pipe + "') & echo begun", func() {
		f, err := os.OpenFile(pipe, os.O_WRONLY, 0)
		must.OK(t, err)
		must.OK(t, f.Close())
	}
}

// TestEnded checks that a cancellation also ends programs that the command has started. Otherwise Run would
// wait for these programs, because they keep the output open.
func TestEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	begun, ended := make(told), make(chan error, 1)
	command, _ := child(t)
	go func() { ended <- run(ctx, 0, command+"; wait", strings.NewReader("x\n"), begun, &bytes.Buffer{}) }()
	must.Receive(t, "the command begins", begun, &bytes.Buffer{})
	cancel()
	if err := must.Receive(t, "the command ends", ended, &bytes.Buffer{}); err == nil {
		t.Error("a command that was ended has succeeded")
	}
}

// TestLeft checks that Run does not wait for a program that a command has left running with its output open.
// Run must return an error about this program.
func TestLeft(t *testing.T) {
	t.Parallel()
	command, end := child(t)
	defer end()
	err := run(t.Context(), time.Nanosecond, command, strings.NewReader(""), make(told), &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "a program that it started still uses its input or output") {
		t.Errorf("Run returns %v", err)
	}
	if err := run(t.Context(), 0, "exit 3", strings.NewReader(""), make(told), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("a command that fails: %v", err)
	}
}
