package payload

import "unsafe"

// kind is the syntactic kind of a value in a body. XML has only strings and null.
type kind uint8

const (
	kindNull kind = iota
	kindFalse
	kindTrue
	kindInteger // a number without fraction and exponent
	kindDecimal
	kindString
)

// token is a scalar value. text shares memory with the body.
type token struct {
	text    string // text of a number, or of a string without its quotes
	kind    kind
	escaped bool // whether text contains JSON escapes
}

// characters returns the characters of a string. They share memory with the body, or with scratch if the string has
// escapes. buffer is scratch, or a longer buffer, for the next call.
func (t token) characters(scratch []byte) (s string, buffer []byte, lone bool) {
	if !t.escaped {
		return t.text, scratch, false
	}
	scratch, lone = unescape(scratch[:0], t.text)
	return view(scratch), scratch, lone
}

// view returns b as a string without a copy.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
