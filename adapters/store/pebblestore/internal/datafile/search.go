package datafile

import (
	"encoding/binary"
)

// maxBlock is an upper bound of the size of a block in bytes. The largest blocks contain a single entity of 1 MiB.
const maxBlock = 4 << 20

// search finds the blocks of a file by their checksums. The end of a damaged block is unknown, so search tries each
// byte as the beginning of the next columnar block.
func search(b []byte) (found []blockRange, damage []Damage) {
	at := 0
	for at < len(b) {
		if n := length(b[at:]); n > 0 {
			found = append(found, blockRange{int64(at), int64(n)})
			at += n
			continue
		}
		from := at
		at = len(b)
		for i := from + 1; i < len(b); i++ {
			if looksColumnar(b[i:]) && length(b[i:]) > 0 {
				at = i
				break
			}
		}
		if at < len(b) || len(b)-from > maxFooter {
			damage = append(damage, Damage{Offset: int64(from), Size: int64(at - from), Err: errBlock})
		}
	}
	return found, damage
}

// maxFooter is the maximum size in bytes of the footer of a data file. The footer is not a block.
const maxFooter = 100

// length returns the length of the block at the beginning of b, including the trailer. It returns 0 if b does not begin
// with a block.
func length(b []byte) int {
	c := ^uint32(0)
	for i := range min(len(b), maxBlock) - trailer + 1 {
		c = castagnoli[byte(c)^b[i]] ^ c>>8
		if masked(^c) != binary.LittleEndian.Uint32(b[i+1:]) || !known(b[i]) {
			continue
		}
		if _, err := decompress(b[:i], b[i]); err == nil {
			return i + trailer
		}
	}
	return 0
}

// looksColumnar reports whether b may begin with a compressed or uncompressed block of data or of deleted key ranges.
// It reads only the first bytes.
func looksColumnar(b []byte) bool {
	known := func(b []byte) bool {
		n := 0
		if len(b) >= 7 && b[4] == 1 {
			n = int(binary.LittleEndian.Uint16(b[5:]))
		}
		return n == dataColumns || n == spanColumns
	}
	if known(b) {
		return true
	}
	// Content compressed with Snappy begins with its uncompressed length and a literal.
	n, size := binary.Uvarint(b[:min(len(b), 10)])
	if size <= 0 || size > 4 || n < columnarHeader || n > maxBlock || len(b) < size+10 || b[size]&3 != 0 {
		return false
	}
	literal := b[size+1:]
	switch b[size] >> 2 {
	case 60:
		literal = literal[1:]
	case 61:
		literal = literal[2:]
	case 62, 63:
		return false
	}
	return known(literal)
}
