package protocol

import (
	"math/bits"
	"sync"
)

// buffers keeps the memory of request and response bodies for reuse.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// sized returns a buffer for about n bytes, so that a growing body is not
// copied repeatedly. It rounds a large n up to a power of two, so that later
// requests can reuse the buffer. Because n may be an overestimate, sized
// reduces an n of up to 1.5 times maxKept to maxKept.
func sized(n int) *[]byte {
	b := buffers.Get().(*[]byte)
	if n >= 64<<10 && n < maxKept*3/2 {
		n = min(1<<bits.Len(uint(n-1)), maxKept)
	}
	if cap(*b) < n {
		*b = make([]byte, 0, n)
	}
	return b
}

// maxKept is the size of the largest buffer that is kept for reuse.
const maxKept = 2 << 20

func keep(b *[]byte) {
	if cap(*b) <= maxKept {
		buffers.Put(b)
	}
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
