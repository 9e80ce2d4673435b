package odata

import (
	"encoding/binary"
	"errors"

	"edgetable/core/edm"
)

// An encoded filter can be sent to another process. An expression is encoded as one byte for its kind, followed by:
//
//   - constant: 1 byte, which is 1 for true
//   - comparison: the operator in 1 byte, and the name and the literal as a property of package edm
//   - conjunction or disjunction: the number of operands as a uvarint, and the operands
//   - negation: the operand
//   - function: the function in 1 byte, and the name and the literal as a property of package edm

var errEncoding = errors.New("odata: malformed filter")

// maxNesting is the maximum depth of an encoded expression. Each pair of parentheses adds at most three levels: a
// disjunction, a conjunction and a negation.
const maxNesting = 3 * (MaxDepth + 1)

// Append appends the encoding of the filter to dst. For a nil filter, Append appends nothing.
func (f *Filter) Append(dst []byte) []byte {
	if f == nil {
		return dst
	}
	return f.root.encode(dst)
}

func (e *expr) encode(dst []byte) []byte {
	dst = append(dst, byte(e.kind))
	switch e.kind {
	case constant:
		if e.truth {
			return append(dst, 1)
		}
		return append(dst, 0)
	case comparison:
		return edm.AppendProperty(append(dst, byte(e.op)), e.name, e.literal)
	case function:
		return edm.AppendProperty(append(dst, byte(e.function)), e.name, e.literal)
	case conjunction, disjunction:
		dst = binary.AppendUvarint(dst, uint64(len(e.operands)))
	}
	for _, o := range e.operands {
		dst = o.encode(dst)
	}
	return dst
}

// Decode is the inverse of [Filter.Append]. The filter shares memory with b.
func Decode(b []byte) (*Filter, error) {
	if len(b) == 0 {
		return nil, nil
	}
	d := decoder{rest: b}
	root := d.expr(maxNesting)
	if root == nil || len(d.rest) > 0 || d.err != nil {
		return nil, errEncoding
	}
	return &Filter{root: root, names: d.names}, nil
}

// decoder decodes expressions. It uses a parser to build comparisons.
type decoder struct {
	parser
	rest []byte
}

func (d *decoder) byte() byte {
	if len(d.rest) == 0 {
		return 0xFF // 0xFF is not a valid kind or operator
	}
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b
}

// expr decodes an expression of at most the given number of levels. It returns nil for malformed bytes.
func (d *decoder) expr(depth int) *expr {
	k := kind(d.byte())
	switch {
	case depth == 0:
		return nil
	case k == constant:
		if b := d.byte(); b <= 1 {
			return truth(b == 1)
		}
	case k == comparison:
		return d.comparison()
	case k == function:
		return d.function()
	case k == conjunction || k == disjunction:
		return d.list(k, depth)
	case k == negation:
		if e := d.expr(depth - 1); e != nil {
			return negate(e)
		}
	}
	return nil
}

func (d *decoder) list(k kind, depth int) *expr {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 || n > uint64(len(d.rest)) {
		return nil
	}
	d.rest = d.rest[size:]
	list := make([]*expr, n)
	for i := range list {
		if list[i] = d.expr(depth - 1); list[i] == nil {
			return nil
		}
	}
	return combine(k, list)
}

//go:noinline
func (d *decoder) comparison() *expr {
	op := operator(d.byte())
	name, literal, ok := d.property()
	if f, system := systemField(name); system && f != fieldTimestamp && literal.Type() != edm.TypeString {
		ok = false
	}
	if !ok || op == 0 || op > less|equal|greater|unordered {
		return nil
	}
	return d.parser.comparison(name, op, literal)
}

//go:noinline
func (d *decoder) function() *expr {
	f := Function(d.byte())
	name, literal, ok := d.property()
	if !ok || f == NoFunction || f > Contains || literal.Type() != edm.TypeString || name == "Timestamp" {
		return nil
	}
	e := d.testOf(function, name, literal)
	if e != nil {
		e.function = f
	}
	return e
}

func (d *decoder) property() (name string, literal edm.Value, ok bool) {
	name, literal, rest, ok := edm.Properties(d.rest).Next()
	d.rest = rest
	return name, literal, ok
}
