package xml

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

const (
	// SpaceXML is the namespace of xml:space, xml:base and xml:lang.
	SpaceXML = "http://www.w3.org/XML/1998/namespace"

	spaceDeclarations = "http://www.w3.org/2000/xmlns/"
)

// start reads a start tag; pos is at its <.
func (r *Reader) start() error {
	if r.depth == MaxDepth {
		return r.syntax("elements nest too deep")
	}
	e := &r.open[r.depth]
	e.namespaces, r.attributeCount = r.namespaceCount, 0
	r.pos++
	var err error
	if e.name, e.local, err = r.name(); err != nil {
		return err
	}
	for {
		blank := r.blanks()
		switch {
		case r.peek() == '>':
			r.pos++
		case r.peek() == '/':
			r.pos++
			if r.peek() != '>' {
				return r.syntax("expected >")
			}
			r.pos++
			r.empty = true
		case !blank:
			return r.syntax("expected a blank or the end of the tag")
		default:
			if err := r.attribute(); err != nil {
				return err
			}
			continue
		}
		r.tag = r.depth
		r.depth++
		return r.resolve(e)
	}
}

// attribute reads an attribute into attributes, where its space is the prefix
// for now, or into namespaces.
func (r *Reader) attribute() error {
	begin := r.pos
	name, at, err := r.name()
	if err != nil {
		return err
	}
	prefix, local := prefix(name, at), name[at:]
	r.blanks()
	if r.peek() != '=' {
		return r.syntax("expected = and the value of the attribute")
	}
	r.pos++
	r.blanks()
	quote := r.peek()
	if quote != '"' && quote != '\'' {
		return r.syntax("expected the value of the attribute in quotes")
	}
	r.pos++
	value, err := r.value(quote)
	if err != nil {
		return err
	}
	switch {
	case prefix == "" && local == "xmlns":
		return r.declare(begin, "", value)
	case prefix == "xmlns":
		return r.declare(begin, local, value)
	case r.attributeCount == MaxAttributes:
		return &SyntaxError{begin, "an element has too many attributes"}
	}
	r.attributes[r.attributeCount] = attribute{prefix, local, value}
	r.attributeCount++
	return nil
}

// value reads the value of an attribute up to its quote.
func (r *Reader) value(quote byte) (string, error) {
	rest := r.doc[r.pos:]
	n := plain(rest)
	if n < len(rest) && rest[n] == quote {
		r.pos += n + 1
		return view(rest[:n]), nil
	}
	if n = bytes.IndexByte(rest, quote); n < 0 {
		return "", r.syntax("the value of the attribute does not end")
	}
	if i := bytes.IndexByte(rest[:n], '<'); i >= 0 {
		r.pos += i
		return "", r.syntax("a < in the value of an attribute")
	}
	r.room()
	from := len(r.decoded)
	if err := r.decode(rest[:n], true, true); err != nil {
		return "", err
	}
	r.pos += n + 1
	return view(r.decoded[from:]), nil
}

// declare adds the declaration of a prefix, of "" for the default namespace.
func (r *Reader) declare(at int, prefix, uri string) error {
	for i := r.open[r.depth].namespaces; i < r.namespaceCount; i++ {
		if r.namespaces[i].prefix == prefix {
			return &SyntaxError{at, "a namespace prefix is declared twice"}
		}
	}
	switch {
	case prefix == "xmlns", uri == spaceDeclarations, (prefix == "xml") != (uri == SpaceXML), prefix != "" && uri == "":
		return &SyntaxError{at, "a namespace that cannot be declared"}
	case r.namespaceCount == MaxNamespaces:
		return &SyntaxError{at, "too many namespaces are declared"}
	}
	r.namespaces[r.namespaceCount] = namespace{prefix, uri}
	r.namespaceCount++
	return nil
}

// resolve turns the prefixes of a tag that was read into namespaces.
func (r *Reader) resolve(e *element) error {
	var ok bool
	if e.space, ok = r.lookup(prefix(e.name, e.local)); !ok {
		return r.syntax("the prefix of the element is not declared")
	}
	for i := range r.attributeCount {
		a := &r.attributes[i]
		if a.space != "" {
			if a.space, ok = r.lookup(a.space); !ok {
				return r.syntax("the prefix of an attribute is not declared")
			}
		}
		for j := range i {
			if b := &r.attributes[j]; a.local == b.local && a.space == b.space {
				return r.syntax("an attribute is given twice")
			}
		}
	}
	return nil
}

// end reads an end tag; pos is at its </.
func (r *Reader) end() error {
	begin := r.pos
	r.pos += len("</")
	want := r.open[r.depth-1].name
	if rest := r.doc[r.pos:]; len(rest) > len(want) && rest[len(want)] == '>' && view(rest[:len(want)]) == want {
		r.pos += len(want)
	} else {
		name, _, err := r.name()
		if err != nil {
			return err
		}
		if name != want {
			return &SyntaxError{begin, "the end tag of another element"}
		}
		r.blanks()
		if r.peek() != '>' {
			return r.syntax("expected >")
		}
	}
	r.pos++
	r.leave()
	return nil
}

// leave makes the innermost element the last tag, and closes it.
func (r *Reader) leave() {
	r.depth--
	r.tag = r.depth
	r.namespaceCount, r.attributeCount = r.open[r.depth].namespaces, 0
}

// name reads a name. Its local part begins at local, which is behind a colon
// unless there is no prefix.
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
			return "", 0, r.syntax("expected a name behind the prefix")
		}
		n += local
	}
	r.pos += n
	return view(rest[:n]), local, nil
}

// prefix is the prefix of a name as it was read.
func prefix(name string, local int) string { return name[:max(local-1, 0)] }

// declaration reads the XML declaration, if there is one.
func (r *Reader) declaration() error {
	if !bytes.HasPrefix(r.doc[r.pos:], []byte("<?xml")) || nameLength(r.doc[r.pos+len("<?"):]) != len("xml") {
		return nil
	}
	begin := r.pos
	n := bytes.Index(r.doc[r.pos:], []byte("?>"))
	if n < 0 {
		return r.syntax("the XML declaration does not end")
	}
	// Its pseudo-attributes come in this order; the first is required.
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

// pseudo cuts blanks and name="value" from the front of s.
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

// remark skips a comment or processing instruction, if pos is at one.
func (r *Reader) remark() (skipped bool, err error) {
	rest := r.doc[r.pos:]
	switch {
	case bytes.HasPrefix(rest, []byte("<!--")):
		n := bytes.Index(rest[len("<!--"):], []byte("--"))
		if n < 0 {
			return false, r.syntax("a comment does not end")
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
			return false, r.syntax("a processing instruction does not end")
		}
		r.pos += len("<?") + n + end + len("?>")
		return true, nil
	case bytes.HasPrefix(rest, []byte("<!")):
		return false, r.syntax("document types and their declarations are not supported")
	}
	return false, nil
}

// blanks skips white space and reports whether there was any.
func (r *Reader) blanks() bool {
	from := r.pos
	for r.pos < len(r.doc) && isBlank(r.doc[r.pos]) {
		r.pos++
	}
	return r.pos > from
}

// peek is the next byte, 0 at the end.
func (r *Reader) peek() byte {
	if r.pos < len(r.doc) {
		return r.doc[r.pos]
	}
	return 0
}

// trimBlanks is s without white space before it.
func trimBlanks(s string) string {
	for s != "" && isBlank(s[0]) {
		s = s[1:]
	}
	return s
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// nameLength is the length of the longest name without a colon b begins with.
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
			if !isNameRune(x, i == 0) || size == 1 { // not UTF-8
				return i
			}
			i += size
		}
	}
	return i
}

// IsName reports whether s can be the name of an element or attribute, without
// a prefix: a Name of XML 1.0 (fifth edition) without colons.
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

// isNameRune judges characters beyond ASCII by the productions NameStartChar
// and NameChar.
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
