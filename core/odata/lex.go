package odata

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"edgetable/core/edm"
)

type tokenKind uint8

const (
	tokenBad tokenKind = iota
	tokenEnd
	tokenOpen
	tokenClose
	tokenName
	tokenLiteral
)

type token struct {
	kind    tokenKind
	name    string // of a bad one: a whole number beyond Int32
	literal edm.Value
}

// lexer cuts a filter into tokens. pos is behind the last one.
type lexer struct {
	text string
	pos  int
}

func (l *lexer) next() token {
	for l.pos < len(l.text) && isBlank(l.text[l.pos]) {
		l.pos++
	}
	switch c := l.peek(0); {
	case l.pos == len(l.text):
		return token{kind: tokenEnd}
	case c == '(':
		l.pos++
		return token{kind: tokenOpen}
	case c == ')':
		l.pos++
		return token{kind: tokenClose}
	case c == '\'':
		if s, ok := l.quoted(); ok {
			return literalToken(edm.String(s))
		}
		return token{}
	case c == '-' || isDigit(c):
		return l.number()
	}
	return l.word()
}

func literalToken(v edm.Value) token { return token{kind: tokenLiteral, literal: v} }

// isBlank includes what a form decoder makes of %09, %0A and %0D.
func isBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// peek is the byte n after pos, or 0 at the end.
func (l *lexer) peek(n int) byte {
	if l.pos+n < len(l.text) {
		return l.text[l.pos+n]
	}
	return 0
}

// quoted reads '…', in which a doubled quote stands for one.
func (l *lexer) quoted() (string, bool) {
	l.pos++
	start, doubled := l.pos, false
	for ; l.pos < len(l.text); l.pos++ {
		switch {
		case l.text[l.pos] != '\'':
		case l.peek(1) == '\'':
			doubled = true
			l.pos++
		default:
			s := l.text[start:l.pos]
			l.pos++
			if doubled {
				s = strings.ReplaceAll(s, "''", "'")
			}
			return s, true
		}
	}
	return "", false
}

// number reads the longest run of characters a number can have, or -INF, and
// leaves it to parseNumber whether it is one.
func (l *lexer) number() token {
	start := l.pos
	l.pos++
	for {
		c := l.peek(0)
		exponent := l.text[l.pos-1]|0x20 == 'e' && isDigit(l.text[l.pos-2])
		if c < utf8.RuneSelf && !isNamePart(rune(c)) && c != '.' && (!exponent || c != '-' && c != '+') {
			break
		}
		l.pos++
	}
	text := l.text[start:l.pos]
	if v, ok := parseNumber(text); ok {
		return literalToken(v)
	}
	if digits, tail := cutDigits(text); digits != "" && tail == "" {
		return token{name: text} // no Int32
	}
	return token{}
}

// word reads a name, a literal that looks like one, or a quoted literal with
// its type in front.
func (l *lexer) word() token {
	start := l.pos
	for l.pos < len(l.text) {
		r, size := utf8.DecodeRuneInString(l.text[l.pos:])
		if !isNamePart(r) || l.pos == start && !isNameStart(r) {
			break
		}
		l.pos += size
	}
	name := l.text[start:l.pos]
	if name == "" {
		_, size := utf8.DecodeRuneInString(l.text[l.pos:])
		l.pos += size
		return token{}
	}
	if l.peek(0) == '\'' {
		if s, ok := l.quoted(); ok {
			if v, ok := parseTyped(name, s); ok {
				return literalToken(v)
			}
		}
		return token{}
	}
	if v, ok := parseWord(name); ok {
		return literalToken(v)
	}
	return token{kind: tokenName, name: name}
}

// isNameStart and isNamePart are the identifiers of C#, of which the names of
// properties are.
func isNameStart(r rune) bool {
	if r < utf8.RuneSelf {
		return r|0x20 >= 'a' && r|0x20 <= 'z' || r == '_'
	}
	return unicode.In(r, unicode.L, unicode.Nl)
}

func isNamePart(r rune) bool {
	if r < utf8.RuneSelf {
		return isNameStart(r) || r >= '0' && r <= '9'
	}
	return isNameStart(r) || unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Pc)
}
