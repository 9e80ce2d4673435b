package payload

import "unsafe"

// kind is the form in which a body contains a value. XML has only strings and null.
type kind uint8

const (
	kindNull kind = iota
	kindFalse
	kindTrue
	kindInteger // a number without fraction and exponent
	kindDecimal
	kindString
)

// token is a single value. Its text shares memory with the body.
type token struct {
	text    string // text of a number or string, without quotes
	kind    kind
	escaped bool // set if the text is a string with JSON escapes
}

// characters returns the characters of a string. If the string has no escapes, the returned text shares memory with the
// body. Otherwise characters decodes the string into the buffer scratch, and the returned text shares memory with this
// buffer. The second result is the buffer for the next call, because the decoding may have allocated a longer buffer.
func (t token) characters(scratch []byte) (s string, grown []byte, lone bool) {
	if !t.escaped {
		return t.text, scratch, false
	}
	scratch, lone = unescape(scratch[:0], t.text)
	return view(scratch), scratch, lone
}

// view returns b as a string that shares its memory.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
