package rows

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxCell is the maximum number of characters of a printed cell. Longer texts are truncated.
const maxCell = 60

func Cut(s string) string {
	if utf8.RuneCountInString(s) <= maxCell {
		return s
	}
	return string([]rune(s)[:maxCell-1]) + "…"
}

// Printable escapes characters that could affect the terminal.
func Printable(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return s
	}
	quoted := strconv.Quote(s)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
