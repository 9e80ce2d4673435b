package proc

import (
	"bytes"
	"sync"
	"testing"
)

// Buffer is what a program writes, which a test may read while it runs.
type Buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Log returns a buffer whose end a failed test shows.
func Log(t testing.TB) *Buffer {
	b := &Buffer{}
	t.Cleanup(func() {
		if text := b.String(); t.Failed() {
			t.Logf("…%s", text[max(0, len(text)-4000):])
		}
	})
	return b
}

func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
