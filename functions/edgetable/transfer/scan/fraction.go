package scan

import (
	"slices"
	"strings"

	"edgetable/functions/edgetable/transfer/ranges"
)

// fraction returns how far the key at lies between from and to, as a number from 0 to 1. It
// compares the first characters that differ. It returns 0 if these do not tell.
func fraction(from, to, at ranges.Key) float64 {
	if to == (ranges.Key{}) || from.Partition == to.Partition && from.Row == to.Row {
		return 0
	}
	a, b, x := from.Partition, to.Partition, at.Partition
	if a != b && b == x {
		return 0 // in the partition of to, before its row
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

// alphabet lists characters in their order.
type alphabet string

const (
	digits, upper, lower = "0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"

	weighed = 8 // characters of a key that a weight depends on
)

// alphabets holds those that keys often have, the smallest first.
var alphabets = []alphabet{digits, digits + "abcdef", digits + "ABCDEF", digits + lower, digits + upper, digits + upper + lower, printable()}

// printable returns the characters of ASCII from the space to the tilde.
func printable() alphabet {
	var list []byte
	for c := byte(' '); c <= '~'; c++ {
		list = append(list, c)
	}
	return alphabet(list)
}

// alphabetOf returns the smallest alphabet with all characters of two keys. Of numbers with leading
// zeros, for example, a tenth begins with each digit. If letters counted too, all numbers would be
// in a small part of the range, and a reader of them would seem to stand still.
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

// weigh maps a text to a number from 0 to 1. The numbers have the order of the texts. A character
// that the alphabet lacks counts like the next one that it has, or like one after its last: the end
// of a range may be a text that is no key.
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
