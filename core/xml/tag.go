package xml

import (
	"bytes"
	"unsafe"
)

const (
	// SpaceXML is the namespace of xml:space, xml:base and xml:lang.
	SpaceXML = "http://www.w3.org/XML/1998/namespace"

	spaceDeclarations = "http://www.w3.org/2000/xmlns/"
)

// start reads a start tag. r.pos must be at the "<".
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
			return r.syntax("expected white space or the end of the tag")
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

// attribute reads an attribute. It records a namespace declaration in r.namespaces, and any other attribute in
// r.attributes, with its prefix as the space until resolve replaces it.
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

func (r *Reader) value(quote byte) (string, error) {
	rest := r.doc[r.pos:]
	n := plainLength(rest)
	if n < len(rest) && rest[n] == quote {
		r.pos += n + 1
		return view(rest[:n]), nil
	}
	if n = bytes.IndexByte(rest, quote); n < 0 {
		return "", r.syntax("the value of the attribute has no closing quote")
	}
	if i := bytes.IndexByte(rest[:n], '<'); i >= 0 {
		r.pos += i
		return "", r.syntax("the value of an attribute contains <")
	}
	r.allocateDecoded()
	from := len(r.decoded)
	if err := r.decode(rest[:n], true, true); err != nil {
		return "", err
	}
	r.pos += n + 1
	return view(r.decoded[from:]), nil
}

// declare records a namespace declaration. The prefix "" is the default namespace.
func (r *Reader) declare(at int, prefix, uri string) error {
	for i := r.open[r.depth].namespaces; i < r.namespaceCount; i++ {
		if r.namespaces[i].prefix == prefix {
			return &SyntaxError{at, "a namespace prefix is declared twice"}
		}
	}
	switch {
	case prefix == "xmlns", uri == spaceDeclarations, (prefix == "xml") != (uri == SpaceXML), prefix != "" && uri == "":
		return &SyntaxError{at, "this namespace cannot be declared"}
	case r.namespaceCount == MaxNamespaces:
		return &SyntaxError{at, "too many namespaces are declared"}
	}
	for i := range r.namespaceCount { // equal URIs must share memory; see sameSpace
		if r.namespaces[i].uri == uri {
			uri = r.namespaces[i].uri
			break
		}
	}
	r.namespaces[r.namespaceCount] = namespace{prefix, uri}
	r.namespaceCount++
	return nil
}

// resolve replaces the prefixes of a start tag by namespaces.
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
			if b := &r.attributes[j]; a.local == b.local && sameSpace(a.space, b.space) {
				return r.syntax("an attribute is given twice")
			}
		}
	}
	return nil
}

// sameSpace reports whether two attributes of one element have the same namespace. It compares pointers, because equal
// URIs share memory and may have megabytes.
func sameSpace(a, b string) bool {
	return len(a) == len(b) && (a == "" || unsafe.StringData(a) == unsafe.StringData(b))
}

// lookup returns the namespace of a prefix. If the prefix is not declared, ok is false. Without a default namespace,
// the namespace of "" is "".
func (r *Reader) lookup(prefix string) (uri string, ok bool) {
	for i := r.namespaceCount - 1; i >= 0; i-- {
		n := &r.namespaces[i]
		if len(n.prefix) == len(prefix) && (prefix == "" || n.prefix[0] == prefix[0] && n.prefix == prefix) {
			return n.uri, true
		}
	}
	if prefix == "xml" {
		return SpaceXML, true
	}
	return "", prefix == ""
}

// end reads an end tag. r.pos must be at the "</".
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
			return &SyntaxError{begin, "the end tag does not match the start tag"}
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

// leave closes the innermost element. The methods Local and Space still return the names of this element.
func (r *Reader) leave() {
	r.depth--
	r.tag = r.depth
	r.namespaceCount, r.attributeCount = r.open[r.depth].namespaces, 0
}

func (r *Reader) blanks() bool {
	from := r.pos
	for r.pos < len(r.doc) && isBlank(r.doc[r.pos]) {
		r.pos++
	}
	return r.pos > from
}

func (r *Reader) peek() byte {
	if r.pos < len(r.doc) {
		return r.doc[r.pos]
	}
	return 0
}

// trimBlanks returns s without leading white space.
func trimBlanks(s string) string {
	for s != "" && isBlank(s[0]) {
		s = s[1:]
	}
	return s
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
