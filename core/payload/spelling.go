package payload

import (
	"strings"

	"edgetable/core/edm"
)

type spelling uint8

const (
	// fileSpelling accepts all texts that [edm.Parse] accepts, and a JSON number for an Int64. It is for files,
	// responses and Atom.
	fileSpelling spelling = iota
	// serviceSpelling accepts what the service's reader accepts in JSON, such as a Guid in braces. It rejects a JSON
	// number for an Int64, the Boolean "1", unpadded base64, and INF.
	serviceSpelling
)

func (as spelling) parse(t edm.Type, s string) (edm.Value, error) {
	if as == fileSpelling {
		return edm.Parse(t, s)
	}
	switch t {
	case edm.TypeBoolean:
		if s = strings.TrimSpace(s); s == "1" || s == "0" {
			s = "" // edm.Parse rejects "" as a Boolean
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
			s = "=" // edm.Parse rejects "=" as base64
		}
	}
	return edm.Parse(t, s)
}

// withoutBlanks removes blanks with [strings.Map]. .NET ignores blanks in base64.
func withoutBlanks(r rune) rune {
	switch r {
	case ' ', '\t', '\r', '\n':
		return -1
	}
	return r
}

// hyphenated converts a Guid in the forms {…}, (…) or 32 digits, which .NET accepts, to 8-4-4-4-12 digits. It returns
// other text unchanged.
func hyphenated(s string) string {
	if n := len(s); n == 38 && (s[0] == '{' && s[n-1] == '}' || s[0] == '(' && s[n-1] == ')') {
		return s[1 : n-1]
	}
	if len(s) == 32 {
		return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
	}
	return s
}
