package protocol

import (
	"math/bits"
	"sync"
)

// buffers holds bodies of requests and responses between uses.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// sized is a buffer for about n bytes, so that what is written to it is not copied
// again and again as it grows. A large one that is kept has a size that will do for
// the next; as n may be too much, a little more than is kept is not asked for.
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

// maxKept is the largest buffer that is kept for another request.
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
