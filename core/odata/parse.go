package odata

import (
	"strings"

	"edgetable/core/edm"
)

// parser parses a filter by recursive descent. It stores the first error. Then the parsing functions consume nothing,
// and their results are meaningless.
//
// The frames of MaxDepth nested parentheses must fit into the 64 KiB stack of a small wasm module. Functions outside
// the recursion are not inlined, because inlining would enlarge the frames.
//
// A type error is reported only after the whole filter has been read, so that syntax errors take precedence, as in
// Microsoft.Data.OData.
type parser struct {
	lexer       lexer
	fold        func(string) string // function that converts a name to lower case; used only for a filter on tables
	extended    bool                // whether the filter may call functions
	tok         token
	err         error
	typeErr     error
	depth       int
	comparisons int
	names       []string
}

func (p *parser) advance() {
	p.tok = p.lexer.next()
}

func (p *parser) fail(err error) {
	if p.err == nil {
		p.err = err
		p.tok = token{kind: tokenBad} // this token ends every loop of the parser
	}
}

// recordTypeError stores the first type error, which is reported after the whole filter has been read.
func (p *parser) recordTypeError(err error) {
	if p.typeErr == nil {
		p.typeErr = err
	}
}

// unexpected stores a syntax error for the next token.
func (p *parser) unexpected() { p.expected("Syntax error", p.lexer.pos) }

// expected stores an error: the next token is not what the grammar requires at this point.
//
//go:noinline
func (p *parser) expected(grammar string, offset int) {
	switch p.tok.name {
	case "add", "sub", "mul", "div", "mod":
		p.fail(notImplemented("There is no arithmetic."))
		return
	}
	if p.tok.err != nil {
		p.fail(p.tok.err)
		return
	}
	p.fail(p.lexer.syntaxError(grammar, offset))
}

func (p *parser) nextIs(keyword string) bool {
	return p.tok.kind == tokenName && p.tok.name == keyword
}

// skipKeyword skips the next token if it is the given keyword, and reports whether it did.
func (p *parser) skipKeyword(keyword string) bool {
	if !p.nextIs(keyword) {
		return false
	}
	p.advance()
	return true
}

// filter = expr end
func (p *parser) filter() *expr {
	t := p.expr()
	if p.tok.kind != tokenEnd {
		p.unexpected()
	}
	if p.err == nil && !t.isCondition() {
		p.recordTypeError(ErrNotBoolean)
	}
	return p.condition(t)
}

// expr = andExpr { "or" andExpr }
func (p *parser) expr() *term {
	left := p.andExpr()
	if !p.nextIs("or") {
		return left
	}
	list := []*expr{p.condition(left)}
	for p.skipKeyword("or") {
		right := p.andExpr()
		left = p.conditions(left, right, "Or")
		list = append(list, p.condition(right))
	}
	return p.combined(disjunction, list)
}

// andExpr = unary { "and" unary }
func (p *parser) andExpr() *term {
	left := p.unary()
	if !p.nextIs("and") {
		return left
	}
	list := []*expr{p.condition(left)}
	for p.skipKeyword("and") {
		right := p.unary()
		left = p.conditions(left, right, "And")
		list = append(list, p.condition(right))
	}
	return p.combined(conjunction, list)
}

// conditions records a type error unless both operands of "and" or "or" are conditions. It returns a Boolean term.
//
//go:noinline
func (p *parser) conditions(left, right *term, kind string) *term {
	if p.err == nil && !(left.isCondition() && right.isCondition()) {
		p.recordTypeError(binaryError(left.typ(), right.typ(), kind))
	}
	return &term{cond: truth(true)}
}

//go:noinline
func (p *parser) combined(k kind, list []*expr) *term {
	if p.err != nil {
		return nil
	}
	return &term{cond: combine(k, list)}
}

// unary = "not" unary | primary
//
// "not" binds tighter than a comparison, so "not" before a key is an error. For a property A, however, "not A eq 1"
// negates the comparison.
func (p *parser) unary() *term {
	nots := 0
	for p.skipKeyword("not") {
		nots++
	}
	left := p.group()
	if nots > 0 && p.err == nil && !left.isCondition() {
		p.recordTypeError(unaryError(left.typ()))
	}
	t := p.primary(left)
	if nots == 0 || p.err != nil {
		return t
	}
	e := p.condition(t)
	if p.err != nil {
		return nil
	}
	if nots%2 == 1 {
		e = negate(e)
	}
	return &term{cond: e}
}

// primary = "(" expr ")" | comparison | literal | property
//
// comparison = operand ( "eq" | "ne" | "gt" | "ge" | "lt" | "le" ) operand
//
// A parenthesis may begin an expr or an operand.
//
//go:noinline
func (p *parser) primary(left *term) *term {
	if p.err != nil || left.cond != nil && !left.called || p.tok.kind != tokenName {
		return left
	}
	op := operatorOf(p.tok.name)
	if op == 0 {
		return left
	}
	p.advance()
	right := p.group()
	if p.err == nil && right.cond != nil && !right.called {
		p.unexpected()
	}
	if p.err != nil {
		return nil
	}
	if left.called || right.called {
		return &term{cond: p.compareCall(left, op, right)}
	}
	return &term{cond: p.compare(left, op, right)}
}

// group parses "(" expr ")", a property, a literal or a function call.
func (p *parser) group() *term {
	if p.tok.kind != tokenOpen {
		return p.operand()
	}
	if p.depth++; p.depth > MaxDepth {
		p.fail(ErrTooComplex)
		return nil
	}
	p.advance()
	t := p.expr()
	p.depth--
	if p.tok.kind != tokenClose {
		p.expected("')' or operator expected", p.tok.start)
		return nil
	}
	p.advance()
	return t
}

// operand = property | literal | call
//
//go:noinline
func (p *parser) operand() *term {
	switch p.tok.kind {
	case tokenLiteral:
		t := &term{literal: p.tok.literal}
		p.advance()
		return t
	case tokenName:
		name, end := p.tok.name, p.lexer.pos
		p.advance()
		switch {
		case name == "null":
			p.fail(ErrNull)
		case p.tok.kind != tokenOpen:
		case isKeyword(name):
			p.unexpected()
		default:
			return p.call(name)
		}
		t := &term{name: name, end: end}
		switch f, system := p.field(name); {
		case !system:
		case f == fieldTimestamp:
			t.system = edm.TypeDateTime
		default:
			t.system = edm.TypeString
		}
		return t
	}
	p.expected("Expression expected", p.tok.start)
	return nil
}

// isKeyword reports whether name is "not", "and" or "or" in any case, and therefore not a function name: "NOT (…)" is a
// negation.
func isKeyword(name string) bool {
	return strings.EqualFold(name, "not") || strings.EqualFold(name, "and") || strings.EqualFold(name, "or")
}
