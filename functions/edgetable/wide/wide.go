// Package wide measures text in terminal columns. Most characters take one, Chinese, Japanese and Korean ones and
// emojis two, and combining accents none.
package wide

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Of returns the number of columns of a text.
func Of(s string) int {
	sum := 0
	for _, r := range s {
		sum += of(r)
	}
	return sum
}

func of(r rune) int {
	if r < 0x300 { // saves the lookup for most characters
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
	end, sum := 0, 0 // the part that fits together with the mark
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

// Pad appends spaces to a text that is shorter than a number of columns.
func Pad(s string, to int) string {
	return s + strings.Repeat(" ", max(0, to-Of(s)))
}
