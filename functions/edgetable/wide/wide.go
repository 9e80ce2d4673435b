// Package wide measures how many terminal columns a text takes. Most characters take one column. Chinese,
// Japanese and Korean characters and emojis take two, and combining accents take none.
package wide

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Of computes the number of columns that a text takes.
func Of(s string) int {
	sum := 0
	for _, r := range s {
		sum += of(r)
	}
	return sum
}

func of(r rune) int {
	if r < 0x300 { // most characters are below U+0300 and need no lookup
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

// Cut shortens a text to a maximum number of columns, which must be at least one. If Cut removes a part of the
// text, the result ends with an ellipsis.
func Cut(s string, most int) string {
	end, sum := 0, 0 // end: where the text is cut, so that the ellipsis fits; sum: number of columns up to now
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

// Pad appends spaces to a text until it takes the given number of columns.
func Pad(s string, to int) string {
	return s + strings.Repeat(" ", max(0, to-Of(s)))
}
