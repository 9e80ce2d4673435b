package odata

import (
	"strings"
	"unicode/utf8"

	"edgetable/core/edm"
)

// Limits of a filter. The service documents at most 15 comparisons but accepts more. MaxDepth is large, because some
// clients add parentheses for each key in a long list.
const (
	MaxLength      = 32 << 10 // maximum length in bytes
	MaxDepth       = 128      // maximum depth of parentheses
	MaxComparisons = 500
)

// Filter is a parsed $filter. It is immutable and safe for concurrent use. A nil Filter matches every entity.
type Filter struct {
	root *expr
	// names holds the distinct properties in the filter, except keys and Timestamp, in order of first appearance.
	// expr.field is an index into names.
	names []string
}

// Parse parses a filter on entities. Blank text results in nil. The error is a *[SyntaxError], a *[TypeError],
// [ErrNotImplemented], [ErrNull], [ErrNotBoolean] or [ErrTooComplex].
func Parse(text string) (*Filter, error) { return parse(text, parser{}) }

// ParseExtended is like Parse, but the filter may call a [Function]. The service does not support functions.
func ParseExtended(text string) (*Filter, error) { return parse(text, parser{extended: true}) }

// ParseTables parses a filter on the tables of an account by TableName. The function fold converts a name to lower
// case. Match takes the folded name as PartitionKey.
func ParseTables(text string, fold func(string) string) (*Filter, error) {
	return parse(text, parser{fold: fold})
}

func parse(text string, p parser) (*Filter, error) {
	if len(text) > MaxLength {
		return nil, ErrTooComplex
	}
	if !utf8.ValidString(text) {
		l := lexer{text: strings.ToValidUTF8(text, "\uFFFD")}
		return nil, l.syntaxError("Syntax error", len(l.text))
	}
	p.lexer = lexer{text: text}
	p.advance()
	if p.tok.kind == tokenEnd {
		return nil, nil
	}
	root := p.filter()
	if p.err == nil {
		p.err = p.typeErr
	}
	if p.err != nil {
		return nil, p.err
	}
	return &Filter{root: root, names: p.names}, nil
}

// Shape returns the canonical filter with a question mark for each value, so that it may be logged. A long or deeply
// nested filter is truncated. A nil filter results in "".
func (f *Filter) Shape() string {
	if f == nil {
		return ""
	}
	shape := f.root.append(nil, maxShapeDepth, appendQuestionMark)
	if len(shape) > maxShape {
		shape = append(shape[:maxShape:maxShape], "…"...)
	}
	return strings.ToValidUTF8(string(shape), "")
}

// maxShape is the maximum length of a shape in bytes. maxShapeDepth limits the recursion, because TinyGo modules have a
// small stack.
const (
	maxShape      = 512
	maxShapeDepth = 32
)

// Match reports whether the filter is true for the entity with the encoded key k and properties p. If k is nil, the
// entity has no keys and no Timestamp. Match does not allocate.
func (f *Filter) Match(k []byte, timestamp edm.Ticks, p edm.Properties) bool {
	if f == nil {
		return true
	}
	if x := f.root; x.kind == comparison && x.field >= 0 { // fast path for the most frequent filter, which makes a scan 15 % faster
		v, _ := p.Lookup(x.name)
		return x.op&compare(v, &x.literal, x.op) != 0
	}
	e := entity{key: k, timestamp: timestamp, properties: p, names: f.names}
	return e.matches(f.root)
}
