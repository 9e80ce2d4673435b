package main

import "math/bits"

// buffer is the memory through which bytes come and go. What came is taken out of
// it, not copied, and what goes is put in its place; the memory taken comes back
// for the next.
//
// Large pieces must not be made anew for each request. The collector takes every
// number among the module's constants that could be an address for one, and there
// are ten for each megabyte: what it may point to is kept for ever. So an instance
// that served a large request serves no other, and where objects are, pieces are
// used again.
type buffer struct {
	b      []byte // what the host writes to or reads from
	spares [3][]byte
}

const (
	minBuffer = 4 << 10
	// maxSpare is the most memory of a piece that is kept for later: a page of
	// large entities, or the largest batch with what is around it.
	maxSpare = 4<<20 + 64<<10
)

// room makes room for n bytes and returns where they go. With 0 it shows where
// they are.
func (s *buffer) room(n int) []byte {
	if cap(s.b) < n || cap(s.b) == 0 {
		s.back(s.b)
		s.b = s.piece(n)
	}
	return s.b[:cap(s.b)]
}

// take gives n bytes that came to the caller, who has them for good.
func (s *buffer) take(n int) []byte {
	b := s.b[:n]
	s.b = nil
	return b
}

// piece is memory to append n bytes to: the smallest that will do.
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

// pieceSize is that of a piece for n bytes, of which there are few, so that pieces
// fit again.
func pieceSize(n int) int {
	if n = max(n, minBuffer); n > maxSpare {
		return n
	}
	return min(1<<bits.Len(uint(n-1)), maxSpare)
}

// largest is the memory to append to where nobody knows how much comes.
func (s *buffer) largest() []byte {
	n := 0
	for _, b := range s.spares {
		n = max(n, cap(b))
	}
	return s.piece(n)
}

// put is what goes; its length is what the host is told.
func (s *buffer) put(b []byte) int {
	s.back(s.b)
	s.b = b
	return len(b)
}

// back takes memory that nobody refers to any more, instead of the smallest.
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
