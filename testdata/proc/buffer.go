package proc

import (
	"bytes"
	"sync"
	"testing"

	"edgetable/testdata/must"
)

// Buffer collects the output of a program. A test may read it while the program runs.
type Buffer struct {
	mu    sync.Mutex
	text  bytes.Buffer
	grown chan struct{} // closed by the next write; nil if no test waits
}

// Log returns a buffer. If the test fails, the end of the buffer is shown.
func Log(t testing.TB) *Buffer {
	b := &Buffer{}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(must.End(b))
		}
	})
	return b
}

func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.grown != nil {
		close(b.grown)
		b.grown = nil
	}
	return b.text.Write(p)
}

// Await waits until the program has written the text.
func (b *Buffer) Await(t testing.TB, text string) {
	t.Helper()
	b.AwaitTimes(t, text, 1)
}

// AwaitTimes waits until the program has written the text this many times.
func (b *Buffer) AwaitTimes(t testing.TB, text string, times int) {
	t.Helper()
	ctx, cancel := must.Patience(t)
	defer cancel()
	for {
		b.mu.Lock()
		there := bytes.Count(b.text.Bytes(), []byte(text)) >= times
		if b.grown == nil {
			b.grown = make(chan struct{})
		}
		grown := b.grown
		b.mu.Unlock()
		if there {
			return
		}
		select {
		case <-grown:
		case <-ctx.Done():
			t.Fatalf("this was not written, or less than %d times: %s\n%s", times, text, must.End(b))
		}
	}
}

func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
