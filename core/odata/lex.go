package odata

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"edgetable/core/edm"
)

type tokenKind uint8

const (
	tokenBad   tokenKind = iota // the text is not a token
	tokenOther                  // a character of OData's syntax that filters do not use
	tokenEnd
	tokenOpen
	tokenClose
	tokenName
	tokenLiteral
)

type token struct {
	kind    tokenKind
	start   int
	name    string
	literal edm.Value
	err     error
}

// lexer splits a filter into tokens. pos is the offset after the most recent token.
type lexer struct {
	text string
	pos  int
}

// next returns the next token, by the rules of Microsoft.Data.OData's lexer.
func (l *lexer) next() token {
	for l.pos < len(l.text) && isBlank(l.text[l.pos]) {
		l.pos++
	}
	start := l.pos
	t := l.token()
	t.start = start
	return t
}

func (l *lexer) token() token {
	start := l.pos
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
		return token{err: l.syntaxError("There is an unterminated string literal", l.pos)}
	case isDigit(c), c == '-' && isDigit(l.peek(1)):
		return l.number()
	case c == '-' && l.peek(1) == 'I':
		l.pos++
		if v, ok := parseWord(l.word()); ok {
			return literalToken(edm.Double(-v.Float()))
		}
		l.pos = start + 1
		return token{kind: tokenOther}
	case strings.IndexByte("*,-./=?", c) >= 0:
		l.pos++
		return token{kind: tokenOther}
	}
	name := l.word()
	if name == "" {
		r, size := utf8.DecodeRuneInString(l.text[l.pos:])
		if r > 0xFFFF { // the library reads UTF-16 code units and reports the first half of a surrogate pair
			r = utf8.RuneError
		}
		l.pos += size
		return token{err: l.syntaxError("Syntax error: character '"+string(r)+"' is not valid", start)}
	}
	if t := typeBefore(name); t != edm.TypeNull && l.peek(0) == '\'' {
		return l.typed(t, start)
	}
	if v, ok := parseWord(name); ok {
		return literalToken(v)
	}
	return token{kind: tokenName, name: name}
}

func literalToken(v edm.Value) token { return token{kind: tokenLiteral, literal: v} }

// syntaxError returns a SyntaxError for the given byte offset. The message contains the position in UTF-16 code units.
func (l *lexer) syntaxError(what string, at int) error {
	return &SyntaxError{what + " at position " + strconv.Itoa(edm.UTF16Len(l.text[:at])) + " in '" + l.text + "'."}
}

func (l *lexer) unrecognized(t edm.Type, start int) token {
	hint := ""
	if t == edm.TypeInt32 {
		hint = " An Int64 literal ends in L; a Double literal has a decimal point."
	}
	return token{err: &SyntaxError{"Unrecognized '" + t.String() + "' literal '" + l.text[start:l.pos] + "' at '" +
		strconv.Itoa(edm.UTF16Len(l.text[:start])) + "' in '" + l.text + "'." + hint}}
}

// isBlank reports whether c is a blank, including decoded %09, %0A and %0D.
func isBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func (l *lexer) peek(n int) byte {
	if l.pos+n < len(l.text) {
		return l.text[l.pos+n]
	}
	return 0
}

// quoted reads a literal in quotes. Two consecutive quotes in it stand for one quote.
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

// typed reads the quoted part of a literal with a type prefix. The part cannot contain quotes.
func (l *lexer) typed(t edm.Type, start int) token {
	l.pos++
	from := l.pos
	n := strings.IndexByte(l.text[from:], '\'')
	if n < 0 {
		return token{err: l.syntaxError("There is an unterminated literal", len(l.text))}
	}
	l.pos = from + n + 1
	if v, ok := parseTyped(t, l.text[from:from+n]); ok {
		return literalToken(v)
	}
	return l.unrecognized(t, start)
}

// number reads
//
//	[ "-" ] digits [ "." digits ] [ ( "e" | "E" ) [ "+" | "-" ] digits ] [ suffix ]
//
// where the suffix is L for Int64 or D for Double, in either case. An integer without a suffix is an Int32 and must be
// in range. The token ends after the suffix, even if another character follows immediately.
func (l *lexer) number() token {
	start := l.pos
	l.pos++
	l.digits()
	t := edm.TypeInt32
	if l.peek(0) == '.' {
		t = edm.TypeDouble
		l.pos++
		if !l.digits() {
			return token{err: l.syntaxError("A digit was expected", l.pos)}
		}
	}
	if l.peek(0)|0x20 == 'e' {
		t = edm.TypeDouble
		l.pos++
		if c := l.peek(0); c == '+' || c == '-' {
			l.pos++
		}
		if !l.digits() {
			return token{err: l.syntaxError("A digit was expected", l.pos)}
		}
	}
	switch l.peek(0) {
	case 'd', 'D':
		t = edm.TypeDouble
		l.pos++
	case 'l', 'L':
		t = edm.TypeInt64
		l.pos++
	}
	if v, ok := parseNumber(l.text[start:l.pos], t); ok {
		return literalToken(v)
	}
	return l.unrecognized(t, start)
}

func (l *lexer) digits() bool {
	start := l.pos
	for isDigit(l.peek(0)) {
		l.pos++
	}
	return l.pos > start
}

func (l *lexer) word() string {
	start := l.pos
	for l.pos < len(l.text) {
		r, size := utf8.DecodeRuneInString(l.text[l.pos:])
		if !isNamePart(r) || l.pos == start && !isNameStart(r) {
			break
		}
		l.pos += size
	}
	return l.text[start:l.pos]
}

// isNameStart and isNamePart report whether r may begin or continue a C# identifier, and thus a property name.
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
