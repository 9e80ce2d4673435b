package xml

import (
	"bytes"
	"errors"
	"strconv"
	"unsafe"
)

// Limits of a document.
const (
	MaxDepth      = 32 // maximum depth of elements, including the root
	MaxAttributes = 32 // maximum number of attributes of an element, without namespace declarations
	MaxNamespaces = 32 // maximum number of namespaces that all open elements together declare
)

// Kind is the kind of item that [Reader.Next] has read.
type Kind uint8

const (
	EOF   Kind = iota // end of a complete document
	Start             // a start tag; <a/> is read as a Start and then an End
	End               // an end tag
	Text              // all character data up to the next tag, with CDATA sections; never empty
)

// SyntaxError reports a document that is not well-formed or exceeds a limit.
type SyntaxError struct {
	Offset  int    // position of the error in bytes, from the start of the document
	Problem string // description of the error
}

func (e *SyntaxError) Error() string {
	return "xml: " + e.Problem + " at byte " + strconv.Itoa(e.Offset)
}

// ErrNested is returned by [Reader.Content] if the element contains another element.
var ErrNested = errors.New("xml: an element where only text is allowed")

var errNotStart = errors.New("xml: not after a start tag")

// Reader reads a document from start to end. Its results share memory with the document and are valid until the
// document is changed; only [Reader.Content] returns a copy.
type Reader struct {
	doc  []byte
	pos  int
	err  error // the first error; all later calls return it
	kind Kind  // the kind that the last call of Next returned

	text   []byte
	joined bool // set if the current text is at the end of Reader.decoded, instead of in the document

	open   [MaxDepth]element
	depth  int
	tag    int  // index, in the array Reader.open, of the element whose tag was read last
	empty  bool // whether the last Start was a tag such as <a/>; Next then returns its End
	rooted bool // whether the root element has begun

	// These fields are arrays, and no pointer refers to them. So a Reader that stays within one function needs no
	// heap memory.
	attributes     [MaxAttributes]attribute // attributes of the last Start
	attributeCount int
	namespaces     [MaxNamespaces]namespace // the declarations of all open elements, one after the other
	namespaceCount int

	// decoded holds the decoded texts that differ from the document's bytes. Bytes are only appended, so that slices of
	// earlier texts stay valid.
	decoded []byte
}

// element is an element whose end tag has not been read.
type element struct {
	name       string // name with prefix
	local      int    // offset of the local part in name
	space      string
	namespaces int // number of namespaces that the surrounding elements declare
}

type attribute struct{ space, local, value string }

type namespace struct{ prefix, uri string }

// NewReader returns a reader for doc, which may begin with a byte order mark and an XML declaration. If doc contains
// an illegal byte anywhere, the first Next returns the error.
func NewReader(doc []byte) *Reader {
	r := &Reader{doc: doc}
	r.err = r.begin()
	return r
}

// Next reads the next tag or text. After an error, each further call returns the same error.
func (r *Reader) Next() (Kind, error) {
	if r.err == nil {
		r.kind, r.err = r.next()
	}
	if r.err != nil {
		r.kind = EOF
	}
	return r.kind, r.err
}

// Space returns the namespace URI of the element whose tag was read last, or "".
func (r *Reader) Space() string { return r.open[r.tag].space }

// Local returns the name, without prefix, of the element whose tag was read last.
func (r *Reader) Local() string {
	e := &r.open[r.tag]
	return e.name[e.local:]
}

// Attr returns an attribute of the last start tag. An attribute without a prefix is in the namespace "", even if
// there is a default namespace.
func (r *Reader) Attr(space, local string) (value string, ok bool) {
	for i := range r.attributeCount {
		if a := &r.attributes[i]; a.local == local && a.space == space {
			return a.value, true
		}
	}
	return "", false
}

// Offset returns the byte offset of the end of the last tag or text.
func (r *Reader) Offset() int { return r.pos }

// Text returns the characters of the last item of kind [Text]. References are resolved, and CR LF and CR are turned
// into LF.
func (r *Reader) Text() []byte { return r.text }

// Content reads up to the end tag of the element whose start tag was read last. It returns the text between the two
// tags, which may be "". If the element contains another element, the error is ErrNested.
func (r *Reader) Content() (string, error) {
	b, err := r.ContentBytes()
	return string(b), err
}

// ContentBytes is like [Reader.Content] but does not copy the text.
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

// Skip skips the content of the element whose start tag was read last, and its end tag.
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

// begin checks the characters of the whole document. It then skips a byte order mark and reads the XML declaration.
func (r *Reader) begin() error {
	if at := legal(view(r.doc)); at < len(r.doc) {
		return &SyntaxError{at, "a character that XML does not allow, or invalid UTF-8"}
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
		if more, err := r.skipOutside(); err != nil || !more {
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

// view returns b as a string that shares its memory.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
