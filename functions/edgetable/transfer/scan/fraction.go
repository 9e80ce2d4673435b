package scan

import "edgetable/functions/edgetable/transfer/ranges"

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
	low, high := weigh(a[n:]), weigh(b[n:])
	if high <= low {
		return 0
	}
	return min(max((weigh(x[n:])-low)/(high-low), 0), 1)
}

// weigh maps a text to a number from 0 to 1. The numbers have the order of the texts. Texts of
// digits and letters get most of the interval.
func weigh(s string) (w float64) {
	unit := 1.0
	for i := range min(len(s), 8) {
		unit /= 96
		w += unit * float64(min(max(int(s[i])-' ', 0), 95))
	}
	return w
}
