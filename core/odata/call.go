package odata

import "edgetable/core/edm"

// noFunction returns the error for a call of an unsupported function.
func (p *parser) noFunction(name string) error {
	switch {
	case p.extended:
		return notImplemented("Only the functions startswith, endswith, contains and substringof are supported.")
	case p.fold == nil && functionNamed(name) != NoFunction:
		return notImplemented(noFunctions + " " + name + " needs a server with --extensions (EDGETABLE_EXTENSIONS=true).")
	}
	return notImplemented(noFunctions)
}

const noFunctions = "Functions are not supported; Name ge 'ab' and Name lt 'ac' finds values that begin with ab."

// call = name "(" operand "," operand ")"
//
//go:noinline
func (p *parser) call(name string) *term {
	f := functionNamed(name)
	if f == NoFunction || !p.extended {
		p.fail(p.noFunction(name))
		return nil
	}
	p.advance()
	property := p.operand()
	if p.err == nil && !(p.tok.kind == tokenOther && p.lexer.text[p.tok.start] == ',') {
		p.expected("')' or ',' expected", p.tok.start)
	}
	p.advance()
	part := p.operand()
	if p.err == nil && p.tok.kind != tokenClose {
		p.expected("')' or ',' expected", p.tok.start)
	}
	if p.err != nil {
		return nil
	}
	p.advance()
	if name == "substringof" {
		property, part = part, property
	}
	switch {
	case property.cond != nil || part.cond != nil:
		p.fail(notImplemented("The arguments of a function must be a property and a string, not another function."))
		return nil
	case property.name == "" || part.name != "" || part.literal.Type() != edm.TypeString ||
		property.system != edm.TypeNull && property.system != edm.TypeString:
		p.recordTypeError(&TypeError{"No function signature for the function with name '" + name + "' matches the specified arguments. Write " + usage(name) + "."})
		return &term{cond: truth(false), called: true}
	}
	e := p.testOf(function, property.name, part.literal)
	if e == nil {
		return nil
	}
	e.function = f
	return &term{cond: e, called: true}
}

func usage(name string) string {
	if name == "substringof" {
		return "substringof('text',Property)"
	}
	return name + "(Property,'text')"
}

// compareCall compares a function call with true or false.
func (p *parser) compareCall(left *term, op operator, right *term) *expr {
	called, other := left, right
	if !called.called {
		called, other = right, left
	}
	switch {
	case other.cond != nil || other.name != "" || op != opEq && op != opNe:
		p.recordTypeError(notImplemented("The result of a function can only be compared with true or false, using eq or ne."))
	case other.literal.Type() != edm.TypeBoolean:
		p.recordTypeError(binaryError(left.typ(), right.typ(), op.kind()))
	case other.literal.Bool() == (op == opEq):
		return called.cond
	default:
		return negate(called.cond)
	}
	return truth(false)
}
