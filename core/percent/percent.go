// Package percent encodes and decodes percent-escapes. It decodes a path or value exactly once and rejects malformed
// escapes, because signatures cover the exact bytes of a request.
package percent

// Byte decodes the escape "%xx" at s[i:]. If there is no valid escape, ok is false.
func Byte(s string, i int) (c byte, ok bool) {
	if i+2 >= len(s) || s[i] != '%' {
		return 0, false
	}
	hi, lo := digit(s[i+1]), digit(s[i+2])
	return hi<<4 | lo, hi|lo < 16
}

// digit returns the value of a hexadecimal digit, or a value above 15 for any other character.
func digit(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 0xFF
}

// Append appends the decoded form of s. If query is set, a plus sign is decoded as a blank. Append returns false if an
// escape is malformed.
func Append(dst []byte, s string, query bool) ([]byte, bool) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '%':
			var ok bool
			if c, ok = Byte(s, i); !ok {
				return dst, false
			}
			i += 2
		case c == '+' && query:
			c = ' '
		}
		dst = append(dst, c)
	}
	return dst, true
}

// Decode returns the decoded form of s; see Append. If s has no escapes, Decode returns s itself.
func Decode(s string, query bool) (string, bool) {
	for i := range len(s) {
		if s[i] == '%' || s[i] == '+' && query {
			out, ok := Append(append(make([]byte, 0, len(s)), s[:i]...), s[i:], query)
			if !ok {
				return "", false
			}
			return string(out), true
		}
	}
	return s, true
}

// AppendEscaped appends s and escapes all characters except letters, digits and -._~, which are valid anywhere in a
// URI.
func AppendEscaped(dst []byte, s string) []byte {
	for i := range len(s) {
		dst = AppendByte(dst, s[i])
	}
	return dst
}

// AppendByte appends one byte, escaped like AppendEscaped.
func AppendByte(dst []byte, c byte) []byte {
	const hex = "0123456789ABCDEF"
	switch {
	case 'a' <= c|0x20 && c|0x20 <= 'z', '0' <= c && c <= '9', c == '-', c == '.', c == '_', c == '~':
		return append(dst, c)
	}
	return append(dst, '%', hex[c>>4], hex[c&15])
}
