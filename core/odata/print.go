package odata

import "edgetable/core/edm"

// append appends the canonical text of the expression. Expressions below the given depth become "…". The last argument
// is a function that appends the text of a value.
func (e *expr) append(dst []byte, depth int, literal func([]byte, edm.Value) []byte) []byte {
	if depth == 0 {
		return append(dst, "…"...)
	}
	switch e.kind {
	case constant:
		if e.truth {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case comparison:
		dst = append(append(dst, e.name...), ' ')
		dst = append(append(dst, e.op.String()...), ' ')
		return literal(dst, e.literal)
	case function:
		dst = append(append(dst, e.function.String()...), '(')
		dst = append(append(dst, e.name...), ',')
		return append(literal(dst, e.literal), ')')
	case negation:
		return e.operands[0].appendGroup(append(dst, "not "...), depth-1, literal)
	}
	word := " and "
	if e.kind == disjunction {
		word = " or "
	}
	for i, o := range e.operands {
		if i > 0 {
			dst = append(dst, word...)
		}
		if o.kind == disjunction {
			dst = o.appendGroup(dst, depth-1, literal)
		} else {
			dst = o.append(dst, depth-1, literal)
		}
	}
	return dst
}

func (e *expr) appendGroup(dst []byte, depth int, literal func([]byte, edm.Value) []byte) []byte {
	return append(e.append(append(dst, '('), depth, literal), ')')
}

func appendQuestionMark(dst []byte, _ edm.Value) []byte { return append(dst, '?') }
