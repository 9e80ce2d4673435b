package xml

import (
	"bytes"
	"strings"
)

// declaration reads the optional XML declaration.
func (r *Reader) declaration() error {
	if !bytes.HasPrefix(r.doc[r.pos:], []byte("<?xml")) || nameLength(r.doc[r.pos+len("<?"):]) != len("xml") {
		return nil
	}
	begin := r.pos
	n := bytes.Index(r.doc[r.pos:], []byte("?>"))
	if n < 0 {
		return r.syntax("the XML declaration is not closed")
	}
	// The pseudo-attributes must be in this order. Only version is required.
	rest := view(r.doc[r.pos+len("<?xml") : r.pos+n])
	version, rest, ok := pseudo(rest, "version")
	known := ok && version == "1.0"
	if encoding, tail, ok := pseudo(rest, "encoding"); ok {
		known = known && strings.EqualFold(encoding, "utf-8")
		rest = tail
	}
	if alone, tail, ok := pseudo(rest, "standalone"); ok {
		known = known && (alone == "yes" || alone == "no")
		rest = tail
	}
	if !known || trimBlanks(rest) != "" {
		return &SyntaxError{begin, "expected an XML declaration of version 1.0 and encoding utf-8"}
	}
	r.pos += n + len("?>")
	return nil
}

// pseudo cuts blanks and the pseudo-attribute name="value" from the front of s.
func pseudo(s, name string) (value, rest string, ok bool) {
	t := trimBlanks(s)
	if len(t) == len(s) || !strings.HasPrefix(t, name) {
		return "", s, false
	}
	t = trimBlanks(t[len(name):])
	if t == "" || t[0] != '=' {
		return "", s, false
	}
	t = trimBlanks(t[1:])
	if t == "" || t[0] != '"' && t[0] != '\'' {
		return "", s, false
	}
	n := strings.IndexByte(t[1:], t[0])
	if n < 0 {
		return "", s, false
	}
	return t[1 : 1+n], t[2+n:], true
}

// remark skips a comment or processing instruction at r.pos. It returns false if there is none.
func (r *Reader) remark() (skipped bool, err error) {
	rest := r.doc[r.pos:]
	switch {
	case bytes.HasPrefix(rest, []byte("<!--")):
		n := bytes.Index(rest[len("<!--"):], []byte("--"))
		if n < 0 {
			return false, r.syntax("a comment is not closed")
		}
		r.pos += len("<!--") + n + len("--")
		if r.peek() != '>' {
			return false, r.syntax("-- in a comment")
		}
		r.pos++
		return true, nil
	case bytes.HasPrefix(rest, []byte("<?")):
		target := rest[len("<?"):]
		n := nameLength(target)
		if n == 0 || strings.EqualFold(view(target[:n]), "xml") {
			return false, r.syntax("not a processing instruction")
		}
		target = target[n:]
		end := bytes.Index(target, []byte("?>"))
		if end < 0 || end > 0 && !isBlank(target[0]) {
			return false, r.syntax("a processing instruction is not closed")
		}
		r.pos += len("<?") + n + end + len("?>")
		return true, nil
	case bytes.HasPrefix(rest, []byte("<!")):
		return false, r.syntax("document types and their declarations are not supported")
	}
	return false, nil
}

// skipOutside skips everything outside the root element. If the result atRoot is true, r.pos is at the root's start
// tag.
func (r *Reader) skipOutside() (atRoot bool, err error) {
	for {
		r.blanks()
		if r.pos == len(r.doc) {
			if !r.rooted {
				return false, r.syntax("there is no element")
			}
			return false, nil
		}
		skipped, err := r.remark()
		switch {
		case err != nil:
			return false, err
		case skipped:
		case r.doc[r.pos] != '<':
			return false, r.syntax("text outside of the root element")
		case r.rooted:
			return false, r.syntax("unexpected content after the root element")
		default:
			r.rooted = true
			return true, nil
		}
	}
}
