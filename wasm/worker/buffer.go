package main

// buffer is the memory through which bytes come and go. What came is taken out of
// it, not copied, and what goes is put in its place; the memory taken comes back
// for the next.
type buffer struct {
	b     []byte // what the host writes to or reads from
	spare []byte
}

const (
	minBuffer = 4 << 10
	// maxSpare is the most memory that is kept for later.
	maxSpare = 256 << 10
)

// room makes room for n bytes and returns where they go. With 0 it shows where
// they are.
func (s *buffer) room(n int) []byte {
	if cap(s.b) < n || cap(s.b) == 0 {
		if cap(s.spare) >= max(n, 1) {
			s.b, s.spare = s.spare, nil
		} else {
			s.b = make([]byte, max(n, minBuffer))
		}
	}
	return s.b[:cap(s.b)]
}

// take gives n bytes that came to the caller, who has them for good.
func (s *buffer) take(n int) []byte {
	b := s.b[:n]
	s.b = nil
	return b
}

// free is memory to append to what goes.
func (s *buffer) free() []byte {
	b := s.spare
	s.spare = nil
	return b[:0]
}

// put is what goes; its length is what the host is told.
func (s *buffer) put(b []byte) int {
	s.b = b
	return len(b)
}

// back takes memory that nobody refers to any more.
func (s *buffer) back(b []byte) {
	if cap(b) <= maxSpare && cap(b) > cap(s.spare) {
		s.spare = b
	}
}
