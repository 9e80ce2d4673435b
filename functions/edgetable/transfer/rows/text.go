package rows

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxCell is the maximum width of a printed cell. A longer text is cut.
const maxCell = 60

func Cut(s string) string {
	if utf8.RuneCountInString(s) <= maxCell {
		return s
	}
	return string([]rune(s)[:maxCell-1]) + "…"
}

// Printable replaces characters that would disturb a terminal.
func Printable(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return s
	}
	quoted := strconv.Quote(s)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
