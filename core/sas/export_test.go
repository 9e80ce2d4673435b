package sas

import "strings"

// Said is a helper for tests that compare two tokens. It returns the values of a token as one text. Tokens with the
// same meaning have the same text: escapes, empty values and the case of the table's name do not affect the text.
func Said(t *Token) string {
	var v [fields]string
	for f := range v {
		v[f] = t.value(field(f))
	}
	v[tn] = t.table
	return t.kind.String() + "\n" + strings.Join(v[:], "\n")
}
