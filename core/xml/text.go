package xml

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// characters reads character data up to the next tag, and leaves r.pos at the tag.
func (r *Reader) characters() error {
	r.text, r.joined = nil, false
	for {
		rest := r.doc[r.pos:]
		n := 0
		if len(rest) == 0 || rest[0] != '<' {
			n = bytes.IndexByte(rest, '<')
		}
		if n < 0 {
			r.pos = len(r.doc)
			return r.syntax("an element has no end tag")
		}
		if n > 0 {
			piece := rest[:n]
			plain := bytes.IndexByte(piece, '&') < 0 && bytes.IndexByte(piece, '\r') < 0
			if bytes.IndexByte(piece, ']') >= 0 {
				if i := bytes.Index(piece, []byte("]]>")); i >= 0 {
					r.pos += i
					return r.syntax("]]> outside of a CDATA section")
				}
			}
			if err := r.put(piece, plain, true); err != nil {
				return err
			}
			r.pos += n
			rest = rest[n:]
		}
		switch {
		case len(rest) < 2:
			return r.syntax("a tag is not closed")
		case rest[1] != '!' && rest[1] != '?':
			return nil
		case bytes.HasPrefix(rest, []byte("<![CDATA[")):
			r.pos += len("<![CDATA[")
			n := bytes.Index(r.doc[r.pos:], []byte("]]>"))
			if n < 0 {
				return r.syntax("a CDATA section is not closed")
			}
			piece := r.doc[r.pos : r.pos+n]
			if err := r.put(piece, bytes.IndexByte(piece, '\r') < 0, false); err != nil {
				return err
			}
			r.pos += n + len("]]>")
		default:
			if _, err := r.remark(); err != nil {
				return err
			}
		}
	}
}

// put appends a piece of the document to r.text. The piece must begin at r.pos. If verbatim is set, the piece needs no
// decoding, and is not copied if r.text is empty.
func (r *Reader) put(piece []byte, verbatim, references bool) error {
	if verbatim && len(r.text) == 0 {
		r.text = piece
		return nil
	}
	if !r.joined {
		r.allocateDecoded()
		r.joined = true
		r.decoded = append(r.decoded, r.text...)
	}
	from := len(r.decoded) - len(r.text)
	if err := r.decode(piece, references, false); err != nil {
		return err
	}
	r.text = r.decoded[from:len(r.decoded):len(r.decoded)]
	return nil
}

// allocateDecoded allocates r.decoded before its first use. Its capacity never exceeds the rest of the document,
// because decoding makes no text longer.
func (r *Reader) allocateDecoded() {
	if r.decoded == nil {
		r.decoded = make([]byte, 0, min(len(r.doc)-r.pos, 1024))
	}
}

// decode appends piece, which must begin at r.pos, to r.decoded. Line ends become LF. If references is set, references
// become characters. If attribute is set, white space becomes blanks.
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
				return &SyntaxError{r.pos + i, "not a valid character reference"}
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

// reference parses a reference at the start of b, such as &name; &#10; or &#xA;. If there is none, size is 0.
func reference(b []byte) (x rune, size int) {
	const longest = 16 // maximum length in bytes of a numeric reference, with some leading zeros
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
		if !isChar(x) { // this includes references without digits; x is 0 for these
			return 0, 0
		}
	}
	return x, end + 1
}
