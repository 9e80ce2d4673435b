package payload

import (
	"strconv"
	"unicode/utf8"
)

// scanner reads a JSON object member by member and validates its syntax. Values must be scalars. The text must be UTF-8
// and, unless relaxed is set, valid JSON.
type scanner struct {
	body        []byte
	pos         int
	name, value token // name and value of the most recent member
	begun       bool
	within      bool // whether other text may follow the object
	relaxed     bool // whether to accept everything that the service's reader accepts
}

// next reads the next member into s.name and s.value. It returns false at the closing brace. Only blanks may follow the
// brace, unless s.within is set.
func (s *scanner) next() (bool, error) {
	comma := s.begun
	if !s.begun {
		if err := s.begin(); err != nil {
			return false, err
		}
	}
	switch c := s.skip(); {
	case c == '}':
		s.pos++
		if s.within {
			return false, nil
		}
		if s.skip(); s.pos < len(s.body) {
			return false, s.syntax("unexpected text after the closing brace")
		}
		return false, nil
	case comma && c != ',':
		return false, s.syntax("expected , or }")
	case comma:
		s.pos++
		s.skip()
	}
	var err error
	if s.peek() == '"' || !s.relaxed {
		s.name, err = s.text()
	} else {
		s.name, err = s.relaxedName()
	}
	if err != nil {
		return false, err
	}
	if s.skip() != ':' {
		return false, s.syntax("expected : after the name of a member")
	}
	s.pos++
	s.value, err = s.scalar()
	return true, err
}

func (s *scanner) begin() error {
	if s.pos == 0 && len(s.body) >= 3 && s.body[0] == 0xEF && s.body[1] == 0xBB && s.body[2] == 0xBF {
		s.pos = 3
	}
	switch c := s.skip(); {
	case s.pos == len(s.body):
		return invalid("The body is empty: send a JSON object.")
	case c != '{':
		return s.syntax("expected a JSON object, {…}")
	}
	s.pos++
	s.begun = true
	return nil
}

// skip skips blanks and returns the next byte, or 0 at the end of the body. It does not consume the byte.
func (s *scanner) skip() byte {
	for s.pos < len(s.body) {
		c := s.body[s.pos]
		if c > ' ' || c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
		s.pos++
	}
	return 0
}

func (s *scanner) syntax(what string) error {
	return invalid("Malformed JSON at byte " + strconv.Itoa(s.pos) + ": " + what + ".")
}

func (s *scanner) scalar() (token, error) {
	switch c := s.skip(); {
	case c == '"':
		return s.text()
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	case c == 't':
		return s.word("true", kindTrue)
	case c == 'f':
		return s.word("false", kindFalse)
	case c == 'n':
		return s.word("null", kindNull)
	case c == '\'' && s.relaxed:
		return s.singleQuoted()
	case c == '.' && s.relaxed:
		return s.number()
	case c == '{' || c == '[':
		return token{}, invalid("The value at byte " + strconv.Itoa(s.pos) + " is an object or an array: a property value must be a string, a number or a Boolean.")
	}
	return token{}, s.syntax("expected a value")
}

func (s *scanner) word(w string, k kind) (token, error) {
	if len(s.body)-s.pos < len(w) || string(s.body[s.pos:s.pos+len(w)]) != w {
		return token{}, s.syntax("expected a value")
	}
	s.pos += len(w)
	return token{kind: k}, nil
}

// number reads a number that matches -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
func (s *scanner) number() (token, error) {
	t, from := token{kind: kindInteger}, s.pos
	if s.peek() == '-' {
		s.pos++
	}
	if c := s.peek(); s.relaxed && (c == '0' || c == '.') {
		s.pos = from
		return s.relaxedNumber()
	}
	if s.peek() == '0' {
		s.pos++
	} else if !s.digits() {
		return t, s.syntax("expected a digit")
	}
	if s.peek() == '.' {
		t.kind = kindDecimal
		s.pos++
		if !s.digits() && !s.relaxed {
			return t, s.syntax("expected a digit after the decimal point")
		}
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

func (s *scanner) peek() byte {
	if s.pos < len(s.body) {
		return s.body[s.pos]
	}
	return 0
}

func (s *scanner) digits() bool {
	from := s.pos
	for s.pos < len(s.body) && s.body[s.pos]-'0' <= 9 {
		s.pos++
	}
	return s.pos > from
}

// text reads a string in double quotes. s.pos must be at the opening quote.
func (s *scanner) text() (token, error) {
	if s.peek() != '"' {
		return token{}, s.syntax("expected a string in double quotes")
	}
	b := s.body
	i := s.pos + 1
	t, from := token{kind: kindString}, i
	for wide := false; ; {
		i += plainLength(b[i:])
		if i == len(b) {
			s.pos = i
			return t, s.syntax("the string has no closing quote")
		}
		switch c := b[i]; {
		case c == '"':
			t.text = view(b[from:i])
			if wide && !utf8.ValidString(t.text) {
				return t, s.syntax("the string is not UTF-8")
			}
			s.pos = i + 1
			return t, nil
		case c == '\\':
			t.escaped = true
			n := escape(b[i:])
			if s.relaxed && i+1 < len(b) && b[i+1] == '\'' {
				n = 2
			}
			if n == 0 {
				s.pos = i
				return t, s.syntax("not a JSON escape sequence")
			}
			i += n
		case c < 0x20 && s.relaxed:
			i++
		case c < 0x20:
			s.pos = i
			return t, s.syntax("a control character in a string must be escaped")
		default:
			wide = true
			for i < len(b) && b[i] >= 0x80 {
				i++
			}
		}
	}
}
