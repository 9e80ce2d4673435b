package xml

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
	"unsafe"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// legal returns the length of the longest prefix of s that XML allows: valid UTF-8 without U+FFFE, U+FFFF and control
// characters other than tab, line feed and carriage return.
func legal(s string) int {
	if !utf8.ValidString(s) {
		for i, x := range s {
			if _, size := utf8.DecodeRuneInString(s[i:]); x == utf8.RuneError && size == 1 {
				s = s[:i]
				break
			}
		}
	}
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	for i := 0; i < len(b); {
		// Test eight bytes at a time: subtracting n from every byte sets the high bit of each byte below n. The lowest
		// set bit always marks such a byte.
		for len(b)-i >= 8 {
			w := binary.LittleEndian.Uint64(b[i:])
			m := ((w-ones*0x20)&^w | ((w^ones*0xEF)-ones) & ^(w^ones*0xEF)) & highs
			if m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
		if i == len(b) {
			break
		}
		switch c := b[i]; {
		case c < 0x20 && c != '\t' && c != '\n' && c != '\r':
			return i
		case c == 0xEF && b[i+1] == 0xBF && b[i+2] >= 0xBE: // the character is U+FFFE or U+FFFF
			return i
		}
		i++
	}
	return len(s)
}

// isChar reports whether XML permits a character (production Char). A reference such as &#10; must denote such a
// character.
func isChar(x rune) bool {
	return x >= 0x20 && x < 0xD800 || x == '\t' || x == '\n' || x == '\r' || x >= 0xE000 && x < 0xFFFE || x >= 0x10000 && x <= utf8.MaxRune
}
