package payload

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf8"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plainLength returns the length of the longest prefix of b that needs no escapes in a JSON string: printable ASCII
// without quotes and backslashes.
func plainLength(b []byte) int {
	i := 0
	// Test eight bytes at a time. Subtracting n from every byte sets the high bit of each byte below n. A borrow may also
	// set the high bit of a later byte, but the lowest set bit is always right.
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		m := (w | (w - ones*0x20) | ((w ^ ones*'"') - ones) | ((w ^ ones*'\\') - ones)) & highs
		if m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < 0x20 || c >= 0x80 || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

// escape returns the length of the escape sequence at the start of b, or 0 if there is none.
func escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(b[2:]); ok {
			return 6
		}
	}
	return 0
}

func hex4[T []byte | string](b T) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for i := range 4 {
		c := b[i]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// unescape appends the characters of a JSON string, which must have valid syntax. An unpaired surrogate becomes U+FFFD,
// and the result hasLone reports whether there was such a surrogate.
func unescape(dst []byte, b string) (out []byte, hasLone bool) {
	for {
		i := strings.IndexByte(b, '\\')
		if i < 0 {
			return append(dst, b...), hasLone
		}
		dst = append(dst, b[:i]...)
		b = b[i:]
		if b[1] != 'u' {
			dst = append(dst, unescaped(b[1]))
			b = b[2:]
			continue
		}
		r, _ := hex4(b[2:])
		b = b[6:]
		if r >= 0xD800 && r < 0xE000 {
			r2, ok := rune(0), false
			if len(b) >= 6 && b[0] == '\\' && b[1] == 'u' {
				r2, ok = hex4(b[2:])
			}
			if ok && r < 0xDC00 && r2 >= 0xDC00 && r2 < 0xE000 {
				r = 0x10000 + (r-0xD800)<<10 + (r2 - 0xDC00)
				b = b[6:]
			} else {
				r, hasLone = utf8.RuneError, true
			}
		}
		dst = utf8.AppendRune(dst, r)
	}
}

func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}
