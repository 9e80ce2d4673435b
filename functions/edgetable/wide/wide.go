// Package wide measures text in columns of a terminal: most characters take one,
// Chinese, Japanese and Korean ones and emojis two, and accents that combine none.
package wide

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Of returns the columns that a text takes.
func Of(s string) int {
	sum := 0
	for _, r := range s {
		sum += of(r)
	}
	return sum
}

func of(r rune) int {
	if r < 0x300 { // no lookup for most of what is printed
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Cut shortens a text to a number of columns, at least one, and marks the cut.
func Cut(s string, most int) string {
	end, sum := 0, 0 // what fits beside the mark
	for i, r := range s {
		sum += of(r)
		if sum > most {
			return s[:end] + "…"
		}
		if sum < most {
			end = i + len(string(r))
		}
	}
	return s
}

// Pad fills a text with spaces behind it.
func Pad(s string, to int) string {
	return s + strings.Repeat(" ", max(0, to-Of(s)))
}
