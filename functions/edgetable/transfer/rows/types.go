package rows

import (
	"strings"

	"edgetable/core/edm"
)

// ParseType parses the name of an Edm type, with or without its namespace, such as Int32 or Edm.Int32.
func ParseType(text string) (edm.Type, bool) {
	if len(text) > 4 && strings.EqualFold(text[:4], "Edm.") {
		text = text[4:]
	}
	for t := edm.TypeBinary; t <= edm.TypeString; t++ {
		if strings.EqualFold(text, ShortType(t)) {
			return t, true
		}
	}
	return edm.TypeNull, false
}

// ShortType returns the name of a type without its namespace, such as Int32.
func ShortType(t edm.Type) string { return strings.TrimPrefix(t.String(), "Edm.") }
