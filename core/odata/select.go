package odata

import (
	"slices"
	"strconv"
	"strings"

	"edgetable/core/edm"
)

// Select holds the distinct names in a $select, in order. A nil Select selects all properties.
type Select []string

// Limits of $select and $top.
const (
	MaxSelect     = 255
	MaxTop        = 1000
	maxNameLength = 255 // maximum length of a name, in UTF-16 code units
)

// ParseSelect parses a comma-separated list of property names. Blank text, or a * in the list, selects all properties.
// The error is [ErrSelect] or a [SyntaxError].
func ParseSelect(text string) (Select, error) {
	if err := checkBrackets(text); err != nil {
		return nil, err
	}
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

// checkBrackets returns the service's error if an item of the list is an expression in brackets or braces instead of a
// name. Commas in such an expression do not separate names.
func checkBrackets(text string) error {
	at := strings.IndexAny(text, "[{")
	if at < 0 {
		return nil
	}
	if before := strings.TrimRightFunc(text[:at], isBlankRune); before != "" && !strings.HasSuffix(before, ",") {
		return nil // the text before the bracket is not a valid name, which the caller reports
	}
	depth := 0
	for i := at; i < len(text); i++ {
		switch text[i] {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '\'':
			end := strings.IndexByte(text[i+1:], '\'')
			if end < 0 {
				return errUnbalanced
			}
			i += end + 1
		}
		if depth == 0 {
			return &SyntaxError{"An identifier was expected at position " + strconv.Itoa(edm.UTF16Len(text[:at])) + "."}
		}
	}
	return errUnbalanced
}

var errUnbalanced = &SyntaxError{"Found an unbalanced bracket expression."}

func isBlankRune(r rune) bool { return r < 0x80 && isBlank(byte(r)) }

func isName(s string) bool {
	for i, r := range s {
		if i == 0 && !isNameStart(r) || !isNamePart(r) {
			return false
		}
	}
	return s != "" && edm.UTF16Len(s) <= maxNameLength
}

// ParseTop parses a $top, an integer from 0 to [MaxTop] in decimal digits. The error is [ErrTop].
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
