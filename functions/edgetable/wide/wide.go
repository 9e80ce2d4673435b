// Package wide computes how many terminal columns a text occupies: two for a Chinese, Japanese or Korean character or
// an emoji, none for a combining accent, and one for other characters.
package wide

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Of returns the number of columns of s.
func Of(s string) int {
	sum := 0
	for _, r := range s {
		sum += of(r)
	}
	return sum
}

func of(r rune) int {
	if r < 0x300 { // fast path for characters below the combining accents
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

// Cut truncates s to a maximum number of columns, at least one, and marks the truncation with an ellipsis.
func Cut(s string, most int) string {
	end, sum := 0, 0 // end is the length of the part that leaves room for the ellipsis; sum is the number of columns so far
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

// Pad appends spaces to s up to the given number of columns.
func Pad(s string, to int) string {
	return s + strings.Repeat(" ", max(0, to-Of(s)))
}
