package odata

import (
	"slices"
	"strings"

	"edgetable/core/edm"
)

// Select holds the names of a $select in order, each once; nil selects
// everything.
type Select []string

// Bounds of $select and $top.
const (
	MaxSelect     = 255  // names
	MaxTop        = 1000 // entities
	maxNameLength = 255  // UTF-16 code units
)

// ParseSelect reads a comma-separated list of property names. Blanks may
// surround a name, and a comma may follow the last. A * in the list, or blank
// text, selects everything. The error is [ErrSelect].
func ParseSelect(text string) (Select, error) {
	text = strings.TrimFunc(text, isBlankRune)
	if text == "" {
		return nil, nil
	}
	text = strings.TrimSuffix(text, ",")
	if strings.Count(text, ",") >= MaxSelect {
		return nil, ErrSelect
	}
	var list Select
	all := false
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimFunc(name, isBlankRune)
		switch {
		case name == "*":
			all = true
		case !isName(name):
			return nil, termError(name)
		case !slices.Contains(list, name):
			list = append(list, name)
		}
	}
	if all {
		return nil, nil
	}
	return list, nil
}

func isBlankRune(r rune) bool { return r < 0x80 && isBlank(byte(r)) }

// isName reports whether s is a valid property name.
func isName(s string) bool {
	for i, r := range s {
		if i == 0 && !isNameStart(r) || !isNamePart(r) {
			return false
		}
	}
	return s != "" && edm.UTF16Len(s) <= maxNameLength
}

// ParseTop reads a $top, a whole number from 0 to [MaxTop] in decimal digits.
// The error is [ErrTop].
func ParseTop(text string) (int, error) {
	if text == "" {
		return 0, ErrTop
	}
	n := 0
	for _, c := range []byte(text) {
		if !isDigit(c) {
			return 0, ErrTop
		}
		if n = n*10 + int(c-'0'); n > MaxTop {
			return 0, ErrTop
		}
	}
	return n, nil
}
