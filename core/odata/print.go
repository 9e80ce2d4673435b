package odata

// append appends the canonical text of the expression.
func (e *expr) append(dst []byte) []byte {
	switch e.kind {
	case constant:
		if e.truth {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case comparison:
		dst = append(append(dst, e.name...), ' ')
		dst = append(append(dst, e.op.String()...), ' ')
		return appendLiteral(dst, e.literal)
	case negation:
		return e.operands[0].appendGroup(append(dst, "not "...))
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
			dst = o.appendGroup(dst)
		} else {
			dst = o.append(dst)
		}
	}
	return dst
}

func (e *expr) appendGroup(dst []byte) []byte {
	return append(e.append(append(dst, '(')), ')')
}
