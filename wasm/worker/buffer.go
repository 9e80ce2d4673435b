package main

import "math/bits"

// buffer is the memory through which bytes enter and leave the module. Incoming bytes are used without a copy, and
// replaced with outgoing ones. Memory that was taken is returned for the next message.
//
// Large pieces must not be allocated for each request. Small blocks lie between the free parts of the heap, and soon none of these
// has room for a large piece. So an instance that served a large request is not used again, and one with objects holds
// its large pieces from the beginning.
type buffer struct {
	b      []byte // read and written by the host
	spares [3][]byte
}

const (
	minBuffer = 4 << 10
	// maxSpare is the size of the largest piece that is kept: a page of large entities,
	// or the largest batch.
	maxSpare = 4<<20 + 64<<10
)

// hold makes the pieces of an instance with objects, before its heap has anything else. A step needs three large ones at most: for
// what comes in, for what goes out, and for the rows that are being read. So it never makes another one.
func (s *buffer) hold() {
	for i := range s.spares {
		s.spares[i] = make([]byte, 0, maxSpare)
	}
}

// room makes room for n bytes and returns it. For n = 0, it returns the current bytes.
func (s *buffer) room(n int) []byte {
	if cap(s.b) < n || cap(s.b) == 0 {
		s.back(s.b)
		s.b = s.piece(n)
	}
	return s.b[:cap(s.b)]
}

// take gives n incoming bytes to the caller, who owns them.
func (s *buffer) take(n int) []byte {
	b := s.b[:n]
	s.b = nil
	return b
}

// piece returns the smallest memory to which n bytes can be appended.
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

// pieceSize returns the size of a piece for n bytes. There are only a few sizes, so that pieces can be reused.
func pieceSize(n int) int {
	if n = max(n, minBuffer); n > maxSpare {
		return n
	}
	return min(1<<bits.Len(uint(n-1)), maxSpare)
}

// largest returns the memory for output of unknown size.
func (s *buffer) largest() []byte {
	n := 0
	for _, b := range s.spares {
		n = max(n, cap(b))
	}
	return s.piece(n)
}

// put makes b the outgoing bytes and returns their length, for the host.
func (s *buffer) put(b []byte) int {
	s.back(s.b)
	s.b = b
	return len(b)
}

// drop returns the current bytes, which nobody needs any more.
func (s *buffer) drop() {
	s.back(s.b)
	s.b = nil
}

// back returns unused memory, which replaces the smallest piece.
func (s *buffer) back(b []byte) {
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
