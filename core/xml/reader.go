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

func (r *Reader) syntax(problem string) error { return &SyntaxError{r.pos, problem} }

// view is b as a string that shares its memory.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
