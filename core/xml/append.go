package xml

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
	"unsafe"
)

// Header is the XML declaration at the start of a document.
const Header = `<?xml version="1.0" encoding="utf-8"?>`

// AppendText appends s as character data. A carriage return becomes a reference, because readers convert a raw one to a
// line feed. Characters that XML does not allow become U+FFFD; [AppendWhole] reports them.
func AppendText(dst []byte, s string) []byte {
	dst, _ = appendEscaped(dst, s, false)
	return dst
}

// AppendWhole is like [AppendText], and also reports whether all characters of s were preserved.
func AppendWhole(dst []byte, s string) (out []byte, whole bool) { return appendEscaped(dst, s, false) }

// AppendAttr appends s as an attribute value. Unlike [AppendText], it also writes tabs and line feeds as references,
// because readers convert raw ones to blanks.
func AppendAttr(dst []byte, s string) []byte {
	dst, _ = appendEscaped(dst, s, true)
	return dst
}

func appendEscaped(dst []byte, s string, attribute bool) (out []byte, whole bool) {
	whole = true
	for {
		n := plainLength(unsafe.Slice(unsafe.StringData(s), len(s)))
		dst = append(dst, s[:n]...)
		if n == len(s) {
			return dst, whole
		}
		s = s[n:]
		c := s[0]
		if c >= utf8.RuneSelf {
			n = 1
			for n < len(s) && s[n] >= utf8.RuneSelf {
				n++
			}
			if w := s[:n]; legal(w) == n {
				dst = append(dst, w...)
			} else {
				dst, whole = appendLegal(dst, w), false
			}
			s = s[n:]
			continue
		}
		s = s[1:]
		switch {
		case c == '&':
			dst = append(dst, "&amp;"...)
		case c == '<':
			dst = append(dst, "&lt;"...)
		case c == '>': // the character > is always escaped, because text must not contain ]]>
			dst = append(dst, "&gt;"...)
		case c == '"' && attribute:
			dst = append(dst, "&quot;"...)
		case c == '\'' && attribute:
			dst = append(dst, "&#39;"...)
		case c == '\r':
			dst = append(dst, "&#xD;"...)
		case c == '\n' && attribute:
			dst = append(dst, "&#xA;"...)
		case c == '\t' && attribute:
			dst = append(dst, "&#x9;"...)
		case c < 0x20 && c != '\n' && c != '\t':
			dst, whole = append(dst, "\uFFFD"...), false
		default:
			dst = append(dst, c)
		}
	}
}

// appendLegal appends s with U+FFFD in place of characters that XML does not allow.
func appendLegal(dst []byte, s string) []byte {
	for _, x := range s {
		if !isChar(x) {
			x = utf8.RuneError
		}
		dst = utf8.AppendRune(dst, x)
	}
	return dst
}

// plainLength returns the length of the longest prefix of printable ASCII without & < > and quotes.
func plainLength(b []byte) int {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		// One comparison finds & (0x26) and ' (0x27), which differ in one bit, and another finds < (0x3C) and > (0x3E).
		m := (w | (w - ones*0x20) | ((w ^ ones*'"') - ones) | ((w&^ones ^ ones*'&') - ones) | ((w&^(ones*2) ^ ones*'<') - ones)) & highs
		if m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < 0x20 || c >= 0x80 || c == '"' || c&^1 == '&' || c&^2 == '<' {
			break
		}
	}
	return i
}
