package protocol

import "testing"

// TestKeep checks that putBuffer keeps the memory of a small buffer, and drops the memory of a buffer that is
// larger than KeptBuffer.
func TestKeep(t *testing.T) {
	h := Handler{KeptBuffer: 1000}
	small, large := make([]byte, 10, 1000), make([]byte, 10, 1001)
	h.putBuffer(&small)
	h.putBuffer(&large)
	if cap(small) != 1000 || large != nil {
		t.Errorf("kept %d and %d bytes", cap(small), cap(large))
	}
}
