package xml

import (
	"bytes"
	"errors"
	"strconv"
	"unsafe"
)

// The limits of a document.
const (
	MaxDepth      = 32 // elements within each other, the root included
	MaxAttributes = 32 // of an element, beside declarations of namespaces
	MaxNamespaces = 32 // declared by the open elements together
)

// Kind is what [Reader.Next] has read.
type Kind uint8

const (
	EOF   Kind = iota // the end of a whole document
	Start             // a start tag; <a/> is Start and End
	End               // an end tag
	Text              // all character data up to the next tag, CDATA sections included; never empty
)

// SyntaxError says where a document is not well-formed, or beyond a limit.
type SyntaxError struct {
	Offset  int    // in bytes from the beginning of the document
	Problem string // what is wrong there
}

func (e *SyntaxError) Error() string {
	return "xml: " + e.Problem + " at byte " + strconv.Itoa(e.Offset)
}

// ErrNested is the error of [Reader.Content] where an element holds another.
var ErrNested = errors.New("xml: an element where only text may be")

var errNotStart = errors.New("xml: not behind a start tag")

// Reader reads a document from front to back. What it returns shares memory
// with the document and is good until that is written to, but for the string
// of [Reader.Content], which is a copy.
type Reader struct {
	doc  []byte
	pos  int
	err  error // sticks
	kind Kind  // of the last Next

	text   []byte
	joined bool // text is the end of decoded

	open   [MaxDepth]element
	depth  int
	tag    int  // the element of the last tag, in open
	empty  bool // the last Start is <a/>: its End is still to be told
	rooted bool // there was a root element

	// Arrays, and none of them referred to from here: a Reader that stays in
	// one function costs no memory of the heap.
	attributes     [MaxAttributes]attribute // of the last Start
	attributeCount int
	namespaces     [MaxNamespaces]namespace // declared by the open elements
	namespaceCount int

	// decoded takes what is not in the document letter by letter. It only
	// grows, so that slices of it stay good.
	decoded []byte
}

// element is an open element.
type element struct {
	name       string // with its prefix
	local      int    // where the local part begins in it
	space      string
	namespaces int // how many are declared outside it
}

type attribute struct{ space, local, value string }

type namespace struct{ prefix, uri string }

// NewReader is a reader of doc, which may begin with a byte order mark and an
// XML declaration. An illegal byte anywhere in it is the error of the first Next.
func NewReader(doc []byte) *Reader {
	r := &Reader{doc: doc}
	r.err = r.begin()
	return r
}

// Next reads on. Its first error is that of all later calls.
func (r *Reader) Next() (Kind, error) {
	if r.err == nil {
		r.kind, r.err = r.next()
	}
	if r.err != nil {
		r.kind = EOF
	}
	return r.kind, r.err
}

// Space is the namespace URI of the last start or end tag, "" if it has none.
func (r *Reader) Space() string { return r.open[r.tag].space }

// Local is the name without prefix of the last start or end tag.
func (r *Reader) Local() string {
	e := &r.open[r.tag]
	return e.name[e.local:]
}

// Attr is an attribute of the last start tag. One without a prefix is in no
// namespace, "", whatever the default namespace is.
func (r *Reader) Attr(space, local string) (value string, ok bool) {
	for i := range r.attributeCount {
		if a := &r.attributes[i]; a.local == local && a.space == space {
			return a.value, true
		}
	}
	return "", false
}

// Text is the last Text with its references resolved and its line ends, CR LF
// or CR in the document, as LF.
func (r *Reader) Text() []byte { return r.text }

// Content reads from a start tag to its end tag and returns the text between,
// "" if there is none. It is ErrNested if there is an element between.
func (r *Reader) Content() (string, error) {
	b, err := r.ContentBytes()
	return string(b), err
}

// ContentBytes is [Reader.Content] without a copy.
func (r *Reader) ContentBytes() ([]byte, error) {
	if r.kind != Start {
		return nil, errNotStart
	}
	var text []byte
	kind, err := r.Next()
	if kind == Text {
		text = r.text
		kind, err = r.Next()
	}
	if kind == Start {
		err = ErrNested
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

// Skip reads from a start tag to its end tag, whatever is between.
func (r *Reader) Skip() error {
	if r.kind != Start {
		return errNotStart
	}
	for outside := r.depth - 1; ; {
		if kind, err := r.Next(); err != nil || kind == End && r.depth == outside {
			return err
		}
	}
}

// begin looks at all bytes and passes what may be before the first tag.
func (r *Reader) begin() error {
	if at := legal(view(r.doc)); at < len(r.doc) {
		return &SyntaxError{at, "a character that XML does not have, or not UTF-8"}
	}
	if bytes.HasPrefix(r.doc, []byte("\uFEFF")) {
		r.pos = len("\uFEFF")
	}
	return r.declaration()
}

func (r *Reader) next() (Kind, error) {
	if r.empty {
		r.empty = false
		r.leave()
		return End, nil
	}
	if r.depth == 0 {
		if more, err := r.outside(); err != nil || !more {
			return EOF, err
		}
		return Start, r.start()
	}
	if err := r.characters(); err != nil {
		return EOF, err
	}
	if len(r.text) > 0 {
		return Text, nil
	}
	if r.doc[r.pos+1] == '/' {
		return End, r.end()
	}
	return Start, r.start()
}

// outside skips what may be before and behind the root element. There is more
// if it stops at the root's start tag.
func (r *Reader) outside() (more bool, err error) {
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
			return false, r.syntax("something behind the root element")
		default:
			r.rooted = true
			return true, nil
		}
	}
}

// characters reads character data up to a tag, at which pos is then.
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
			return r.syntax("an element does not end")
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
			return r.syntax("a tag does not end")
		case rest[1] != '!' && rest[1] != '?':
			return nil
		case bytes.HasPrefix(rest, []byte("<![CDATA[")):
			r.pos += len("<![CDATA[")
			n := bytes.Index(r.doc[r.pos:], []byte("]]>"))
			if n < 0 {
				return r.syntax("a CDATA section does not end")
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

// put adds a piece of the document, which begins at pos, to text. A plain one
// is what it stands for, and if it is all of the text is not copied.
func (r *Reader) put(piece []byte, plain, references bool) error {
	if plain && len(r.text) == 0 {
		r.text = piece
		return nil
	}
	if !r.joined {
		r.room()
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

// lookup is the namespace a prefix stands for. The default one may be none.
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

func (r *Reader) syntax(problem string) error { return &SyntaxError{r.pos, problem} }

// view is b as a string that shares its memory.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
