package payload

import (
	"strings"

	"edgetable/core/edm"
)

// spelling says which texts and numbers are values of a type.
type spelling uint8

const (
	// ofFiles is what [edm.Parse] reads, and a number for an Int64. It is for files,
	// answers and ATOM.
	ofFiles spelling = iota
	// ofService is what the reader of the service, Microsoft.Data.OData 5.8.0, takes in
	// JSON: blanks around a Boolean or an Int32, a year or a month for a DateTime, and a
	// Guid in braces, in parentheses or without hyphens. It refuses a number for an Int64, the Boolean "1", base64 without
	// padding, and INF; the documentation of the service has none of them.
	ofService
)

// parse returns the value of a text.
func (as spelling) parse(t edm.Type, s string) (edm.Value, error) {
	if as == ofFiles {
		return edm.Parse(t, s)
	}
	switch t {
	case edm.TypeBoolean:
		if s = strings.TrimSpace(s); s == "1" || s == "0" {
			s = "" // no Boolean
		}
	case edm.TypeInt32:
		s = strings.TrimSpace(s)
	case edm.TypeDouble:
		if strings.HasSuffix(s, "INF") {
			s = ""
		}
	case edm.TypeDateTime:
		s = edm.WholeDate(s)
	case edm.TypeGuid:
		s = hyphenated(s)
	case edm.TypeBinary:
		if strings.ContainsAny(s, " \t\r\n") {
			s = strings.Map(withoutBlanks, s)
		}
		if len(s)%4 != 0 {
			s = "=" // no base64
		}
	}
	return edm.Parse(t, s)
}

// withoutBlanks is for [strings.Map]: .NET ignores blanks in base64.
func withoutBlanks(r rune) rune {
	switch r {
	case ' ', '\t', '\r', '\n':
		return -1
	}
	return r
}

// hyphenated returns a Guid as 8-4-4-4-12 digits, if s has another form that .NET
// reads: {…} or (…) around that one, or 32 digits. Any other text is unchanged.
func hyphenated(s string) string {
	if n := len(s); n == 38 && (s[0] == '{' && s[n-1] == '}' || s[0] == '(' && s[n-1] == ')') {
		return s[1 : n-1]
	}
	if len(s) == 32 {
		return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
	}
	return s
}
