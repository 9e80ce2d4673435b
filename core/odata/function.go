package odata

import (
	"strings"

	"edgetable/core/edm"
)

// Function is a function of strings that a filter of [ParseExtended] may call. It is
// true if the stored value is a String that begins with, ends with or contains the
// literal, by UTF-16 code unit. It is false of an absent property and of a value of
// another type.
type Function uint8

// The functions. NoFunction is that of a comparison.
const (
	NoFunction Function = iota
	StartsWith
	EndsWith
	Contains
)

// functionNamed returns the function with a name, or NoFunction. substringof, the
// name of contains in version 3 of OData, has the literal first.
func functionNamed(name string) Function {
	switch name {
	case "startswith":
		return StartsWith
	case "endswith":
		return EndsWith
	case "contains", "substringof":
		return Contains
	}
	return NoFunction
}

func (f Function) String() string {
	switch f {
	case StartsWith:
		return "startswith"
	case EndsWith:
		return "endswith"
	}
	return "contains"
}

// Of reports whether the function is true of two strings. They are UTF-8, in which a
// character never begins inside another one: bytes agree with UTF-16 code units.
func (f Function) Of(s, part string) bool {
	switch f {
	case StartsWith:
		return strings.HasPrefix(s, part)
	case EndsWith:
		return strings.HasSuffix(s, part)
	}
	return strings.Contains(s, part)
}

// noFunction returns the error for the call of a function that the filter must not use.
func (p *parser) noFunction(name string) error {
	switch {
	case p.extended:
		return notImplemented("There are no functions but startswith, endswith, contains and substringof.")
	case p.fold == nil && functionNamed(name) != NoFunction:
		return notImplemented(noFunctions + " " + name + " needs a server with --extensions (EDGETABLE_EXTENSIONS=true).")
	}
	return notImplemented(noFunctions)
}

const noFunctions = "There are no functions; Name ge 'ab' and Name lt 'ac' finds what begins with ab."

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
		p.fail(notImplemented("A function takes a property and a string, no other function."))
		return nil
	case property.name == "" || part.name != "" || part.literal.Type() != edm.TypeString ||
		property.system != edm.TypeNull && property.system != edm.TypeString:
		p.mistyped(&TypeError{"No function signature for the function with name '" + name + "' matches the specified arguments. Write " + usage(name) + "."})
		return &term{cond: truth(false), called: true}
	}
	e := p.testOf(function, property.name, part.literal)
	if e == nil {
		return nil
	}
	e.function = f
	return &term{cond: e, called: true}
}

// usage is an example of the call of a function.
func usage(name string) string {
	if name == "substringof" {
		return "substringof('text',Property)"
	}
	return name + "(Property,'text')"
}

// compareCall compares what a function returns with true or false.
func (p *parser) compareCall(left *term, op operator, right *term) *expr {
	called, other := left, right
	if !called.called {
		called, other = right, left
	}
	switch {
	case other.cond != nil || other.name != "" || op != opEq && op != opNe:
		p.mistyped(notImplemented("What a function returns is compared with true or false, by eq or ne."))
	case other.literal.Type() != edm.TypeBoolean:
		p.mistyped(binaryError(left.typ(), right.typ(), op.kind()))
	case other.literal.Bool() == (op == opEq):
		return called.cond
	default:
		return negate(called.cond)
	}
	return truth(false)
}
