package scan

import (
	"slices"
	"strings"

	"edgetable/functions/edgetable/transfer/ranges"
)

// fraction estimates the position of a key between the bounds of a range, as a number from 0 to 1.
// It compares the first characters in which the keys differ. It returns 0 if these characters allow
// no estimate.
func fraction(from, to, at ranges.Key) float64 {
	if to == (ranges.Key{}) || from.Partition == to.Partition && from.Row == to.Row {
		return 0
	}
	a, b, x := from.Partition, to.Partition, at.Partition
	if a != b && b == x {
		return 0 // the key is in the last partition of the range, whose size is unknown
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
	low, high := used.weigh(a[n:]), used.weigh(b[n:])
	if high <= low {
		return 0
	}
	return min(max((used.weigh(x[n:])-low)/(high-low), 0), 1)
}

// alphabet is a set of characters in ascending order.
type alphabet string

const (
	digits, upper, lower = "0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"

	weighed = 8 // number of characters at the start of a key that are used for estimates, see the method weigh
)

// alphabets has sets of characters that keys often use, the smallest set first.
var alphabets = []alphabet{digits, digits + "abcdef", digits + "ABCDEF", digits + lower, digits + upper, digits + upper + lower, printable()}

// printable returns the printable ASCII characters, from the space to the tilde.
func printable() alphabet {
	var list []byte
	for c := byte(' '); c <= '~'; c++ {
		list = append(list, c)
	}
	return alphabet(list)
}

// alphabetOf returns the smallest alphabet that contains all characters of the keys. The estimate
// depends on the alphabet. If keys are decimal numbers, one tenth of them begins with each digit.
// In an alphabet with letters too, all numbers would be in a small part of the range. The estimate
// would then hardly change while the numbers are read.
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

// weigh maps a text to a number from 0 to 1, in the order of the texts. The end of a range need not
// be a key, so it may have characters that are not in the alphabet. Such a character counts as the
// next higher character of the alphabet, or as one above the last character.
func (a alphabet) weigh(s string) (w float64) {
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
