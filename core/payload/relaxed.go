package payload

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The service's reader, Microsoft.Data.OData 5.8.0, accepts more than JSON, and so does this package. Both reject
// trailing commas, comments, +5, True and mismatched quotes.

// relaxedName reads a name in single quotes, or an unquoted name of letters, digits and _ $ . @.
func (s *scanner) relaxedName() (token, error) {
	if s.peek() == '\'' {
		return s.singleQuoted()
	}
	from := s.pos
	for s.pos < len(s.body) {
		c, size := utf8.DecodeRune(s.body[s.pos:])
		// The service's reader sees characters above U+FFFF as two UTF-16 code units, so it does not accept them as
		// letters.
		if c > 0xFFFF || c == utf8.RuneError || !unicode.IsLetter(c) && !unicode.Is(unicode.Nd, c) && !strings.ContainsRune("_$.@", c) {
			break
		}
		s.pos += size
	}
	if s.pos == from {
		return token{}, s.syntax("expected the name of a member")
	}
	return token{kind: kindString, text: view(s.body[from:s.pos])}, nil
}

// singleQuoted reads a string in single quotes. s.pos must be at the opening quote.
func (s *scanner) singleQuoted() (token, error) {
	b := s.body
	i := s.pos + 1
	t, from := token{kind: kindString}, i
	for ; i < len(b); i++ {
		switch b[i] {
		case '\'':
			t.text = view(b[from:i])
			if !utf8.ValidString(t.text) {
				return t, s.syntax("the string is not UTF-8")
			}
			s.pos = i + 1
			return t, nil
		case '\\':
			t.escaped = true
			n := escape(b[i:])
			if i+1 < len(b) && b[i+1] == '\'' {
				n = 2
			}
			if n == 0 {
				s.pos = i
				return t, s.syntax("not a JSON escape sequence")
			}
			i += n - 1
		}
	}
	s.pos = i
	return t, s.syntax("the string has no closing quote")
}

// relaxedNumber reads a number that matches -?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?
func (s *scanner) relaxedNumber() (token, error) {
	t, from := token{kind: kindInteger}, s.pos
	if s.peek() == '-' {
		s.pos++
	}
	some := s.digits()
	if s.peek() == '.' {
		t.kind = kindDecimal
		s.pos++
		some = s.digits() || some
	}
	if !some {
		return t, s.syntax("expected a digit")
	}
	if s.peek()|0x20 == 'e' {
		t.kind = kindDecimal
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		if !s.digits() {
			return t, s.syntax("expected a digit in the exponent")
		}
	}
	t.text = view(s.body[from:s.pos])
	return t, nil
}
