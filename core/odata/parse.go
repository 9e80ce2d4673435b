package odata

import (
	"slices"
	"strings"

	"edgetable/core/edm"
	"edgetable/core/key"
)

// parser reads a filter by recursive descent. The first error sticks; after
// that the productions return without reading on, and what they return is of
// no use. A parenthesis is five frames of a few pointers each: MaxDepth of them
// have to fit the 64 KiB stack of a small wasm module.
type parser struct {
	lexer       lexer
	tok         token // the next one
	err         error
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
		p.tok = token{kind: tokenBad} // ends every loop
	}
}

// unexpected reports the next token as one that cannot stand where it does.
func (p *parser) unexpected() {
	switch p.tok.name {
	case "add", "sub", "mul", "div", "mod":
		p.fail(notImplemented("There is no arithmetic."))
		return
	}
	e := &SyntaxError{Pos: edm.UTF16Len(p.lexer.text[:p.lexer.pos]), Text: p.lexer.text}
	if p.tok.kind == tokenBad {
		e.Number = p.tok.name
	}
	p.fail(e)
}

// at reports whether a keyword is next.
func (p *parser) at(keyword string) bool {
	return p.tok.kind == tokenName && p.tok.name == keyword
}

// have steps over a keyword if it is next.
func (p *parser) have(keyword string) bool {
	if !p.at(keyword) {
		return false
	}
	p.advance()
	return true
}

// term is an operand or a condition, which look alike until they end. It is an
// operand, and cond nil, until something takes it as a condition.
type term struct {
	cond    *expr
	name    string // operand: the property, or "" for a literal
	literal edm.Value
}

// filter = expr end
func (p *parser) filter() *expr {
	t := p.expr()
	if p.tok.kind != tokenEnd {
		p.unexpected()
	}
	return p.condition(t)
}

// expr = andExpr { "or" andExpr }
func (p *parser) expr() *term {
	first := p.andExpr()
	if !p.at("or") {
		return first
	}
	list := []*expr{p.condition(first)}
	for p.have("or") {
		list = append(list, p.condition(p.andExpr()))
	}
	return p.combined(disjunction, list)
}

// andExpr = unary { "and" unary }
func (p *parser) andExpr() *term {
	first := p.unary()
	if !p.at("and") {
		return first
	}
	list := []*expr{p.condition(first)}
	for p.have("and") {
		list = append(list, p.condition(p.unary()))
	}
	return p.combined(conjunction, list)
}

func (p *parser) combined(k kind, list []*expr) *term {
	if p.err != nil {
		return nil
	}
	return &term{cond: combine(k, list)}
}

// unary = "not" unary | primary
func (p *parser) unary() *term {
	nots := 0
	for p.have("not") {
		nots++
	}
	t := p.primary()
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
// The parenthesis of an expr and that of an operand begin alike: what comes out
// of it decides.
func (p *parser) primary() *term {
	left := p.group()
	if p.err != nil || left.cond != nil || p.tok.kind != tokenName {
		return left
	}
	op := operatorOf(p.tok.name)
	if op == 0 {
		return left
	}
	p.advance()
	right := p.group()
	if p.err == nil && right.cond != nil {
		p.unexpected()
	}
	if p.err != nil {
		return nil
	}
	return &term{cond: p.compare(left, op, right)}
}

// group reads "(" expr ")", property or literal.
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
		p.unexpected()
		return nil
	}
	p.advance()
	return t
}

// operand = property | literal
func (p *parser) operand() *term {
	switch p.tok.kind {
	case tokenLiteral:
		t := &term{literal: p.tok.literal}
		p.advance()
		return t
	case tokenName:
		name := p.tok.name
		p.advance()
		switch {
		case name == "null":
			p.fail(ErrNull)
		case p.tok.kind != tokenOpen:
		case isKeyword(name):
			p.unexpected()
		default:
			p.fail(notImplemented("There are no functions; Name ge 'ab' and Name lt 'ac' finds what begins with ab."))
		}
		return &term{name: name}
	}
	p.unexpected()
	return nil
}

// isKeyword recognises the keywords in the wrong case too, so that "NOT (…)"
// is not taken for a function.
func isKeyword(name string) bool {
	return strings.EqualFold(name, "not") || strings.EqualFold(name, "and") || strings.EqualFold(name, "or")
}

// condition takes a term as something that is true or false.
func (p *parser) condition(t *term) *expr {
	switch {
	case p.err != nil:
		return nil
	case t.cond != nil:
		return t.cond
	case t.name != "":
		return p.comparison(t.name, opEq, edm.Boolean(true))
	case t.literal.Type() != edm.TypeBoolean:
		p.fail(ErrNotBoolean)
		return nil
	}
	return truth(t.literal.Bool())
}

func (p *parser) compare(left *term, op operator, right *term) *expr {
	switch {
	case left.name == "" && right.name == "":
		// The rules want one side to be the stored value: the left one is.
		return truth(op&compare(left.literal, &right.literal, op) != 0)
	case right.name == "":
		return p.comparison(left.name, op, right.literal)
	case left.name == "":
		return p.comparison(right.name, op.mirrored(), left.literal)
	}
	p.fail(notImplemented("Two properties are compared; the text of a literal stands in quotes, as in Name eq 'Ada'."))
	return nil
}

func (p *parser) comparison(name string, op operator, literal edm.Value) *expr {
	if p.comparisons++; p.comparisons > MaxComparisons {
		p.fail(ErrTooComplex)
		return nil
	}
	e := &expr{kind: comparison, op: op, name: name, literal: literal}
	if f, ok := systemField(name); ok {
		e.field = f
		if f != fieldTimestamp && literal.Type() == edm.TypeString {
			e.rotated = key.AppendPart(make([]byte, 0, len(literal.Text())), literal.Text())
		}
		return e
	}
	i := slices.Index(p.names, name)
	if i < 0 {
		i = len(p.names)
		p.names = append(p.names, name)
	}
	e.field = field(i)
	return e
}
