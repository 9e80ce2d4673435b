package protocol

import (
	"cmp"
	"math/bits"
	"sync"
)

// buffers is a pool of buffers for the bodies of requests and responses.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// getBuffer returns a buffer with a capacity of about n bytes, so that a growing body is not copied repeatedly.
func (h *Handler) getBuffer(n int) *[]byte {
	b := buffers.Get().(*[]byte)
	// Powers of two are easier to reuse. A capacity of largestKept suffices for a slightly higher n, because callers often
	// estimate n too high.
	if most := h.largestKept(); n >= 64<<10 && n < most*3/2 {
		n = min(1<<bits.Len(uint(n-1)), most)
	}
	if *b = (*b)[:0]; cap(*b) < n {
		*b = make([]byte, 0, n)
	}
	return b
}

func (h *Handler) largestKept() int { return cmp.Or(h.KeptBuffer, 2<<20) }

// putBuffer returns a buffer to the pool. It sets *b to nil if the buffer is larger than largestKept, because TinyGo's
// pool retains every pointer that it handed out.
func (h *Handler) putBuffer(b *[]byte) {
	if cap(*b) > h.largestKept() {
		*b = nil
	}
	buffers.Put(b)
}

func (x *exchange) chainRelease(f func()) {
	if f == nil {
		return
	}
	if prev := x.resp.release; prev != nil {
		x.resp.release = func() { prev(); f() }
		return
	}
	x.resp.release = f
}
