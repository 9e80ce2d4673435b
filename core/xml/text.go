package xml

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf8"
	"unsafe"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// Representable reports whether XML can hold all of s: that it is UTF-8 without
// control characters but tab, line feed and carriage return, and without U+FFFE
// and U+FFFF. There is no way around it, references to such are not legal either.
func Representable(s string) bool { return legal(s) == len(s) }

// legal is the length of the longest prefix XML can hold.
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
		// Eight bytes at a time: subtracting n from every byte sets the high bit
		// of those below n, and the lowest bit found this way is exact.
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
		case c == 0xEF && b[i+1] == 0xBF && b[i+2] >= 0xBE: // U+FFFE, U+FFFF
			return i
		}
		i++
	}
	return len(s)
}

// isChar is the production Char: what references may refer to.
func isChar(x rune) bool {
	return x >= 0x20 && x < 0xD800 || x == '\t' || x == '\n' || x == '\r' || x >= 0xE000 && x < 0xFFFE || x >= 0x10000 && x <= utf8.MaxRune
}

// room makes some for the first characters to decode. There are never more of
// them than bytes in the document.
func (r *Reader) room() {
	if r.decoded == nil {
		r.decoded = make([]byte, 0, min(len(r.doc)-r.pos, 1024))
	}
}

// decode appends a piece of the document to decoded: with references resolved,
// where it may have them, and line ends as LF. In an attribute all white space
// is blanks. pos is where the piece begins.
func (r *Reader) decode(piece []byte, references, attribute bool) error {
	for i := 0; i < len(piece); {
		from := i
		for i < len(piece) && !(piece[i] == '&' && references) && piece[i] != '\r' && !(attribute && piece[i] < 0x20) {
			i++
		}
		r.decoded = append(r.decoded, piece[from:i]...)
		if i == len(piece) {
			break
		}
		switch piece[i] {
		case '&':
			x, size := reference(piece[i:])
			if size == 0 {
				return &SyntaxError{r.pos + i, "not a reference to a character"}
			}
			r.decoded = utf8.AppendRune(r.decoded, x)
			i += size
			continue
		case '\r':
			if i+1 < len(piece) && piece[i+1] == '\n' {
				i++
			}
		}
		if attribute {
			r.decoded = append(r.decoded, ' ')
		} else {
			r.decoded = append(r.decoded, '\n')
		}
		i++
	}
	return nil
}

// reference reads the reference b begins with: &name; or &#10; or &#xA;. Its
// size is 0 if it is none.
func reference(b []byte) (x rune, size int) {
	const longest = 16 // leading zeros are allowed, but not without end
	end := strings.IndexByte(view(b[:min(len(b), longest)]), ';')
	if end < 0 {
		return 0, 0
	}
	switch name := view(b[1:end]); name {
	case "lt":
		x = '<'
	case "gt":
		x = '>'
	case "amp":
		x = '&'
	case "quot":
		x = '"'
	case "apos":
		x = '\''
	default:
		digits, ok := strings.CutPrefix(name, "#")
		if !ok {
			return 0, 0
		}
		base := rune(10)
		if d, hex := strings.CutPrefix(digits, "x"); hex {
			digits, base = d, 16
		}
		for _, c := range []byte(digits) {
			switch {
			case c >= '0' && c <= '9':
				c -= '0'
			case base == 16 && c|0x20 >= 'a' && c|0x20 <= 'f':
				c = c | 0x20 - 'a' + 10
			default:
				return 0, 0
			}
			if x = x*base + rune(c); x > utf8.MaxRune {
				return 0, 0
			}
		}
		if !isChar(x) { // nor is there a character without digits
			return 0, 0
		}
	}
	return x, end + 1
}
