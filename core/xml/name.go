package xml

import "unicode/utf8"

// name reads a name at r.pos. The result local is the offset of the local part, after a prefix and a colon.
func (r *Reader) name() (name string, local int, err error) {
	rest := r.doc[r.pos:]
	n := nameLength(rest)
	if n == 0 {
		return "", 0, r.syntax("expected a name")
	}
	if n < len(rest) && rest[n] == ':' {
		local = n + 1
		n = nameLength(rest[local:])
		if n == 0 {
			r.pos += local
			return "", 0, r.syntax("expected a name after the prefix")
		}
		n += local
	}
	r.pos += n
	return view(rest[:n]), local, nil
}

// prefix returns the namespace prefix of a name: "a" for "a:b", and "" without a colon. The parameter local is the
// offset after the colon, or 0.
func prefix(name string, local int) string { return name[:max(local-1, 0)] }

// nameLength returns the length of the longest name without a colon at the start of b.
func nameLength(b []byte) int {
	i := 0
	for i < len(b) {
		c := b[i]
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_':
			i++
		case c >= '0' && c <= '9' || c == '-' || c == '.':
			if i == 0 {
				return 0
			}
			i++
		case c < utf8.RuneSelf:
			return i
		default:
			x, size := utf8.DecodeRune(b[i:])
			if !isNameRune(x, i == 0) || size == 1 { // invalid UTF-8 has size 1
				return i
			}
			i += size
		}
	}
	return i
}

// IsName reports whether s is a valid local name of an element or attribute: a Name of XML 1.0 (fifth edition) without
// colons.
func IsName(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return nameLength([]byte(s)) == len(s)
		}
		c := s[i]
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' {
			continue
		}
		if i == 0 || (c < '0' || c > '9') && c != '-' && c != '.' {
			return false
		}
	}
	return s != ""
}

// isNameRune reports whether a non-ASCII character may occur in a name or, if first is set, at the start of a name
// (productions NameChar and NameStartChar).
func isNameRune(x rune, first bool) bool {
	switch {
	case x == 0xB7, x >= 0x300 && x <= 0x36F, x == 0x203F, x == 0x2040:
		return !first
	case x < 0xC0, x == 0xD7, x == 0xF7, x == 0x37E, x > 0xEFFFF:
		return false
	case x < 0x2000, x == 0x200C, x == 0x200D, x >= 0x2070 && x <= 0x218F, x >= 0x2C00 && x <= 0x2FEF,
		x >= 0x3001 && x <= 0xD7FF, x >= 0xF900 && x <= 0xFDCF, x >= 0xFDF0 && x <= 0xFFFD, x >= 0x10000:
		return true
	}
	return false
}
