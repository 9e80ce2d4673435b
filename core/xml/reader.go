package xml

import (
	"bytes"
	"errors"
	"strconv"
	"unsafe"
)

// Limits of a document.
const (
	MaxDepth      = 32 // maximum nesting of elements, including the root
	MaxAttributes = 32 // maximum number of attributes per element, without namespace declarations
	MaxNamespaces = 32 // maximum number of namespace declarations on all open elements
)

// Kind is the kind of an item that [Reader.Next] returns.
type Kind uint8

const (
	EOF   Kind = iota // end of a complete document
	Start             // a start tag; the tag <a/> results in a Start and then an End
	End
	Text // all character data up to the next tag, including CDATA sections; never empty
)

// SyntaxError reports a document that is not well-formed or exceeds a limit.
type SyntaxError struct {
	Offset  int // byte offset in the document
	Problem string
}

func (e *SyntaxError) Error() string {
	return "xml: " + e.Problem + " at byte " + strconv.Itoa(e.Offset)
}

// ErrNested is returned by [Reader.Content] if the element contains another element.
var ErrNested = errors.New("xml: an element where only text is allowed")

var errNotStart = errors.New("xml: not after a start tag")

// Reader reads a document from start to end. The document must not change while results of a Reader are in use, because
// the results share its memory. Only the result of [Reader.Content] is a copy.
type Reader struct {
	doc  []byte
	pos  int
	err  error // the first error, which all later calls return
	kind Kind  // result of the last Next

	text   []byte
	joined bool // whether the field text is in decoded, at the end, and not in the document

	open   [MaxDepth]element
	depth  int
	tag    int  // index, in the list open, of the element whose tag was read last
	empty  bool // whether the last Start was a tag such as <a/>; Next then returns End
	rooted bool

	// The following fields are arrays without pointers to them, so that a Reader can live on the stack.
	attributes     [MaxAttributes]attribute // attributes of the last Start
	attributeCount int
	namespaces     [MaxNamespaces]namespace // declarations of all open elements
	namespaceCount int

	// decoded holds decoded text that differs from the document. It is append-only, so slices of earlier text remain
	// valid.
	decoded []byte
}

type element struct {
	name       string // name with its prefix
	local      int    // offset of the local part in name
	space      string
	namespaces int // number of namespaces declared by the surrounding elements
}

type attribute struct{ space, local, value string }

type namespace struct{ prefix, uri string }

// NewReader returns a reader for doc, which may begin with a byte order mark and an XML declaration. If any byte of doc
// is illegal, the first Next returns an error.
func NewReader(doc []byte) *Reader {
	r := &Reader{doc: doc}
	r.err = r.readProlog()
	return r
}

// Next reads the next tag or text. After an error, all further calls return the same error.
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

// Local returns the local name of the element whose tag was read last.
func (r *Reader) Local() string {
	e := &r.open[r.tag]
	return e.name[e.local:]
}

// Attr returns an attribute of the last start tag. An attribute without a prefix is in the namespace "", even if there
// is a default namespace.
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

// Text returns the characters of the last [Text] item. References are resolved, and CR LF and CR are converted to LF.
func (r *Reader) Text() []byte { return r.text }

// Content reads the rest of the element whose start tag was read last, and returns its text. If the element contains
// another element, the error is ErrNested.
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

// Skip skips the rest of the element whose start tag was read last.
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

// readProlog validates the characters of the whole document, skips a byte order mark and reads the XML declaration.
func (r *Reader) readProlog() error {
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

// view returns b as a string without a copy.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
