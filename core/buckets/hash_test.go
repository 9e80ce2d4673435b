package buckets_test

import (
	"fmt"
	"testing"

	"edgetable/core/buckets"
	"edgetable/core/key"
)

// TestHashIsForEver checks that the hash has not changed, because the hash decides in which bucket an entity is
// stored. The expected numbers were computed independently of this code.
func TestHashIsForEver(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		partition              string
		of2, of7, of8, of65535 uint16
	}{
		{"", 0, 1, 6, 62192},
		{"a", 1, 1, 3, 42005},
		{"customer-000042", 1, 1, 1, 6769},
		{"😀", 0, 6, 0, 35647},
		{"\uffff", 0, 4, 6, 60102},
	} {
		p := key.AppendPart(nil, x.partition)
		got := [4]uint16{buckets.Of(p, 2), buckets.Of(p, 7), buckets.Of(p, 8), buckets.Of(p, 65535)}
		if want := [4]uint16{x.of2, x.of7, x.of8, x.of65535}; got != want {
			t.Errorf("%q is in bucket %v of 2, 7, 8, 65535; want %v", x.partition, got, want)
		}
		k := key.Append(nil, x.partition, "row")
		for _, count := range []uint16{0, 1, 2, 8, 300} {
			if a, b := buckets.OfKey(k, count), buckets.Of(p, count); a != b || a >= max(count, 1) {
				t.Errorf("%q: OfKey says %d, Of %d of %d", x.partition, a, b, count)
			}
		}
	}
}

// TestSpread checks that typical keys are distributed evenly: the number of keys in each bucket may differ from the
// average by at most a tenth.
func TestSpread(t *testing.T) {
	t.Parallel()
	const n = 12_000
	for name, format := range map[string]string{
		"numbers":    "%d",
		"padded":     "customer-%08d",
		"hex":        "%x",
		"in front":   "%d-suffix-that-is-the-same",
		"even ones":  "p%d0",
		"characters": "%[2]c",
	} {
		for _, count := range []uint16{2, 3, 8} {
			counts := make([]int, count)
			for i := range n {
				s := fmt.Sprintf(format, i, rune(0x10000+i))
				if format[1] != '[' {
					s = fmt.Sprintf(format, i)
				}
				counts[buckets.Of(key.AppendPart(nil, s), count)]++
			}
			for b, got := range counts {
				if part := n / int(count); got < part-part/10 || got > part+part/10 {
					t.Errorf("%s: bucket %d of %d has %d of %d partitions", name, b, count, got, n)
				}
			}
		}
	}
}
