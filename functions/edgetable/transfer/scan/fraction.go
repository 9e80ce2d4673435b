package scan

import (
	"slices"
	"strings"

	"edgetable/functions/edgetable/transfer/ranges"
)

// fraction estimates the position of a key within a range, from 0 to 1. It uses the first characters in which the keys
// differ. If there is no estimate, it returns 0.
func fraction(from, to, at ranges.Key) float64 {
	if to == (ranges.Key{}) || from.Partition == to.Partition && from.Row == to.Row {
		return 0
	}
	a, b, x := from.Partition, to.Partition, at.Partition
	if a != b && b == x {
		return 0 // the key is in the last partition, whose size is unknown
	}
	if a == b {
		a, b, x = from.Row, to.Row, at.Row
	}
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	if len(x) < n || x[:n] != a[:n] {
		return 0
	}
	used := alphabetOf(a[n:], x[n:])
	low, high := used.fraction(a[n:]), used.fraction(b[n:])
	if high <= low {
		return 0
	}
	return min(max((used.fraction(x[n:])-low)/(high-low), 0), 1)
}

// alphabet is a string of distinct characters in ascending order.
type alphabet string

const (
	digits, upper, lower = "0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"

	weighed = 8 // number of characters after the common prefix that fraction considers
)

// alphabets are typical alphabets of keys, in the order in which alphabetOf tries them.
var alphabets = []alphabet{digits, digits + "abcdef", digits + "ABCDEF", digits + lower, digits + upper, digits + upper + lower, printable()}

func printable() alphabet {
	var list []byte
	for c := byte(' '); c <= '~'; c++ {
		list = append(list, c)
	}
	return alphabet(list)
}

// alphabetOf returns the first of the alphabets that contains all characters of the keys. Decimal numbers, for example,
// are spread evenly only over an alphabet of digits.
func alphabetOf(keys ...string) alphabet {
	for _, a := range alphabets {
		if !slices.ContainsFunc(keys, func(k string) bool {
			return strings.Trim(k[:min(len(k), weighed)], string(a)) != ""
		}) {
			return a
		}
	}
	return alphabets[len(alphabets)-1]
}

// fraction maps strings to numbers from 0 to 1, which sort in the same order. A character outside the alphabet, for
// example in the end of a range, counts as the next higher character.
func (a alphabet) fraction(s string) (w float64) {
	unit := 1.0
	for i := range min(len(s), weighed) {
		at, _ := slices.BinarySearch([]byte(a), s[i])
		unit /= float64(len(a))
		if w += unit * float64(at); at == len(a) {
			break
		}
	}
	return w
}
