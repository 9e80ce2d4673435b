package sas

import "strings"

// Said returns the values of a token as one text, so that a test can compare two tokens. Tokens with the same meaning
// have the same text: escapes, empty values and the case of the table's name do not affect the text.
func Said(t *Token) string {
	var v [fields]string
	for f := range v {
		v[f] = t.value(field(f))
	}
	v[tn] = t.table
	return t.kind.String() + "\n" + strings.Join(v[:], "\n")
}
