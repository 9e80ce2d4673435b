package odata

import (
	"slices"

	"edgetable/core/edm"
	"edgetable/core/key"
)

// term is a parsed operand, or a condition if cond is set. A property can be either: in "A and B eq 1", only the "and"
// shows that A is a condition. parser.condition then converts it.
type term struct {
	cond    *expr
	called  bool   // whether cond is a function call, which may be compared with true or false
	name    string // name of a property; "" for a literal
	literal edm.Value
	system  edm.Type // type of a system property
	end     int      // offset after the property name
}

// typ returns the type of a term, or TypeNull if the type depends on the entity.
func (t *term) typ() edm.Type {
	switch {
	case t.cond != nil:
		return edm.TypeBoolean
	case t.name != "":
		return t.system
	}
	return t.literal.Type()
}

// isCondition reports whether a term is or may be Boolean.
func (t *term) isCondition() bool {
	return t.typ() == edm.TypeBoolean || t.typ() == edm.TypeNull
}

//go:noinline
func (p *parser) condition(t *term) *expr {
	switch {
	case p.err != nil:
		return nil
	case t.cond != nil:
		return t.cond
	case isOperator(t.name):
		p.fail(p.lexer.syntaxError("Syntax error", t.end))
		return nil
	case t.name != "" && t.system == edm.TypeNull:
		return p.comparison(t.name, opEq, edm.Boolean(true))
	}
	return truth(t.literal.Type() == edm.TypeBoolean && t.literal.Bool())
}

// isOperator reports whether name is an operator. A property with such a name can be an operand of a comparison but not
// a condition.
func isOperator(name string) bool {
	return name == "and" || name == "or" || operatorOf(name) != 0
}

func (p *parser) compare(left *term, op operator, right *term) *expr {
	l, r := left.typ(), right.typ()
	if l != r && l != edm.TypeNull && r != edm.TypeNull && !(isNumber(l) && isNumber(r)) {
		p.recordTypeError(binaryError(l, r, op.kind()))
		return truth(false)
	}
	switch {
	case left.name == "" && right.name == "":
		// Both sides are literals. Treat the left one as the stored value.
		return truth(op&compare(left.literal, &right.literal, op) != 0)
	case right.name == "":
		return p.comparison(left.name, op, right.literal)
	case left.name == "":
		return p.comparison(right.name, op.mirrored(), left.literal)
	}
	p.recordTypeError(notImplemented("Two properties cannot be compared; write a string literal in quotes, as in Name eq 'Ada'."))
	return truth(false)
}

func isNumber(t edm.Type) bool {
	return t == edm.TypeInt32 || t == edm.TypeInt64 || t == edm.TypeDouble
}

// field returns the field of a system property. For any other property, it returns false. In a filter on tables, the
// only system property is TableName.
func (p *parser) field(name string) (field, bool) {
	switch {
	case p.fold == nil:
		return systemField(name)
	case name == "TableName":
		return fieldPartitionKey, true
	}
	return 0, false
}

func (p *parser) comparison(name string, op operator, literal edm.Value) *expr {
	e := p.testOf(comparison, name, literal)
	if e != nil {
		e.op = op
	}
	return e
}

func (p *parser) testOf(k kind, name string, literal edm.Value) *expr {
	if p.comparisons++; p.comparisons > MaxComparisons {
		p.fail(ErrTooComplex)
		return nil
	}
	e := &expr{kind: k, name: name, literal: literal}
	if f, ok := p.field(name); ok {
		e.field = f
		if p.fold != nil {
			literal = edm.String(p.fold(literal.Text()))
			e.literal = literal
		}
		if f != fieldTimestamp {
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
