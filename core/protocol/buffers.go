package protocol

import (
	"cmp"
	"math/bits"
	"sync"
)

// buffers keeps the memory of request and response bodies for reuse.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// sized returns a buffer for about n bytes, so that a growing body is not
// copied repeatedly. It rounds a large n up to a power of two, so that later
// requests can reuse the buffer. Because n may be an overestimate, sized
// reduces an n of up to 1.5 times the largest kept buffer to that size.
func (h *Handler) getBuffer(n int) *[]byte {
	b := buffers.Get().(*[]byte)
	if most := h.largestKept(); n >= 64<<10 && n < most*3/2 {
		n = min(1<<bits.Len(uint(n-1)), most)
	}
	if *b = (*b)[:0]; cap(*b) < n {
		*b = make([]byte, 0, n)
	}
	return b
}

func (h *Handler) largestKept() int { return cmp.Or(h.KeptBuffer, 2<<20) }

// keep returns every buffer to the pool. A buffer that is too large is returned without
// its memory. It must be returned too, because TinyGo's pool keeps a reference to every
// value that it handed out.
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
