package main

import "math/bits"

// buffer is the memory through which bytes enter and leave the module. Outgoing bytes replace the incoming bytes, which
// are used without a copy. Code that takes memory from the buffer must return it.
//
// Large blocks of memory (pieces) must not be allocated for each request: small blocks fragment the heap, and soon no
// gap is large enough. So an instance for Durable Objects allocates its pieces at the start, and any other instance
// ends after a large request.
type buffer struct {
	b      []byte // the bytes that the host reads and writes
	spares [3][]byte
}

const (
	minBuffer = 4 << 10
	// maxSpare is the maximum size of a block that is kept for reuse. A page of large entities and the largest batch
	// fit into it.
	maxSpare = 4<<20 + 64<<10
)

// allocateSpares allocates the large blocks of an instance for Durable Objects while the heap is empty. A step needs at
// most three: for input, output, and the rows that it reads.
func (s *buffer) allocateSpares() {
	for i := range s.spares {
		s.spares[i] = make([]byte, 0, maxSpare)
	}
}

// room returns the buffer with space for at least n bytes. If the buffer must grow, its content is lost. With n = 0,
// the content is preserved.
func (s *buffer) room(n int) []byte {
	if cap(s.b) < n || cap(s.b) == 0 {
		s.recycle(s.b)
		s.b = s.piece(n)
	}
	return s.b[:cap(s.b)]
}

// detach returns the n incoming bytes. The caller owns their memory.
func (s *buffer) detach(n int) []byte {
	b := s.b[:n]
	s.b = nil
	return b
}

// piece returns the smallest unused block to which n bytes can be appended, or a new block.
func (s *buffer) piece(n int) []byte {
	best := -1
	for i, b := range s.spares {
		if cap(b) >= max(n, 1) && (best < 0 || cap(b) < cap(s.spares[best])) {
			best = i
		}
	}
	if best >= 0 {
		b := s.spares[best]
		s.spares[best] = nil
		return b[:0]
	}
	return make([]byte, 0, pieceSize(n))
}

// pieceSize returns the size of a block for n bytes. It returns only a few different sizes, so that blocks can be
// reused.
func pieceSize(n int) int {
	if n = max(n, minBuffer); n > maxSpare {
		return n
	}
	return min(1<<bits.Len(uint(n-1)), maxSpare)
}

// largest returns the largest unused block, for output whose size is unknown.
func (s *buffer) largest() []byte {
	n := 0
	for _, b := range s.spares {
		n = max(n, cap(b))
	}
	return s.piece(n)
}

// put stores b as the outgoing bytes for the host, and returns their number.
func (s *buffer) put(b []byte) int {
	s.recycle(s.b)
	s.b = b
	return len(b)
}

// drop makes the memory of the current bytes available for reuse.
func (s *buffer) drop() {
	s.recycle(s.b)
	s.b = nil
}

// recycle keeps the block b for reuse if its capacity is at most maxSpare and above the capacity of the smallest kept
// block, which b replaces.
func (s *buffer) recycle(b []byte) {
	least := 0
	for i := range s.spares {
		if cap(s.spares[i]) < cap(s.spares[least]) {
			least = i
		}
	}
	if cap(b) <= maxSpare && cap(b) > cap(s.spares[least]) {
		s.spares[least] = b
	}
}
