package sas

import "strings"

// Said is what a token says, but for what does not count: how it was escaped,
// empty values and the case of the table.
func Said(t *Token) string {
	var v [fields]string
	for f := range v {
		v[f] = t.value(field(f))
	}
	v[tn] = t.table
	return t.kind.String() + "\n" + strings.Join(v[:], "\n")
}
