package key_test

import (
	"bytes"
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"edgetable/core/key"
)

// alphabet contains characters that have another order in UTF-8 than in UTF-16, their neighbours, and a few ordinary
// characters. All are legal in keys.
var alphabet = []rune{
	' ', '!', 'a', 'b', '~', 0xA0, 0xE9, 0x7FF, 0x800, 0xD7FE, 0xD7FF,
	0xE000, 0xE001, 0xFFFD, 0xFFFE, 0xFFFF, 0x10000, 0x10001, 0x1F600, 0xFFFFF, 0x100000, 0x10FFFE, 0x10FFFF,
}

// foreign contains characters that are illegal in keys, but possible in filters.
var foreign = []rune{0, 1, 2, '\t', '\n', 0x1F, '#', '/', '?', '\\', 0x7F, 0x80, 0x9F}

func randomString(r *rand.Rand, runes []rune, most int) string {
	s := make([]rune, r.IntN(most+1))
	for i := range s {
		s[i] = runes[r.IntN(len(runes))]
	}
	return string(s)
}

// legalKeys returns n legal keys. The keys are short, so many of them are prefixes of others.
func legalKeys(n int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	keys := []string{"", " ", "  ", "\uD7FF", "\uE000", "\uFFFF", "\U00010000", "\U0010FFFF"}
	for len(keys) < n {
		keys = append(keys, randomString(r, alphabet, 4))
	}
	return keys
}

// bounds returns the given keys and further strings: control characters, and keys with an inserted illegal
// character.
func bounds(keys []string) []string {
	r := rand.New(rand.NewPCG(3, 4))
	all := append([]string{"\x00", "\x01", "\x1f", "\x7f"}, keys...)
	for _, k := range keys {
		f := string(foreign[r.IntN(len(foreign))])
		at := r.IntN(utf8.RuneCountInString(k) + 1)
		runes := []rune(k)
		all = append(all, k+f, f+k, string(runes[:at])+f+string(runes[at:]))
	}
	return all
}

// compareUTF16 compares two strings by UTF-16 code unit, which is the service's order.
func compareUTF16(a, b string) int {
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

func sign(i int) int { return cmp.Compare(i, 0) }

func TestCompare(t *testing.T) {
	t.Parallel()
	all := bounds(legalKeys(300))
	for _, a := range all {
		for _, b := range all {
			if got, want := sign(key.Compare(a, b)), compareUTF16(a, b); got != want {
				t.Fatalf("Compare(%q, %q) is %d, want %d", a, b, got, want)
			}
		}
	}
}

// TestAppendPartKeepsOrder checks that encoded strings have the same order as the strings in UTF-16, and are equal
// only if the strings are equal.
func TestAppendPartKeepsOrder(t *testing.T) {
	t.Parallel()
	all := bounds(legalKeys(300))
	for _, a := range all {
		x := key.AppendPart(nil, a)
		if !utf8.Valid(x) {
			t.Fatalf("%q becomes %q, which is not UTF-8", a, x)
		}
		if back := key.DecodePart(x); back != a {
			t.Fatalf("%q comes back as %q", a, back)
		}
		for _, b := range all {
			if got, want := bytes.Compare(x, key.AppendPart(nil, b)), compareUTF16(a, b); got != want {
				t.Fatalf("%q against %q: %d, want %d", a, b, got, want)
			}
		}
	}
}

// TestRotationIsABijection checks that each code point has its own rotated form, which decodes to the code point.
func TestRotationIsABijection(t *testing.T) {
	t.Parallel()
	seen := make([]bool, utf8.MaxRune+1)
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		b := key.AppendPart(nil, string(r))
		got, size := utf8.DecodeRune(b)
		if size != len(b) || got == utf8.RuneError && size == 1 || seen[got] {
			t.Fatalf("U+%04X becomes %q", r, b)
		}
		seen[got] = true
		if r < 0xE000 && got != r {
			t.Fatalf("U+%04X changes into U+%04X", r, got)
		}
		if back := key.DecodePart(b); back != string(r) {
			t.Fatalf("U+%04X comes back as %q", r, back)
		}
	}
}

type pair struct{ partition, row string }

func pairs(keys []string) []pair {
	r := rand.New(rand.NewPCG(5, 6))
	all := make([]pair, 0, 3*len(keys))
	for _, k := range keys {
		all = append(all, pair{k, ""}, pair{"", k}, pair{k, keys[r.IntN(len(keys))]})
	}
	return all
}

func TestAppendKeepsOrder(t *testing.T) {
	t.Parallel()
	all := pairs(legalKeys(250))
	for _, a := range all {
		x := key.Append([]byte("prefix"), a.partition, a.row)[len("prefix"):]
		if p, r := key.Decode(x); p != a.partition || r != a.row {
			t.Fatalf("%q comes back as %q, %q", a, p, r)
		}
		if p, r := key.Split(x); !bytes.Equal(p, key.AppendPart(nil, a.partition)) || !bytes.Equal(r, key.AppendPart(nil, a.row)) {
			t.Fatalf("%q splits into %q, %q", a, p, r)
		}
		for _, b := range all {
			want := cmp.Or(compareUTF16(a.partition, b.partition), compareUTF16(a.row, b.row))
			y := key.Append(nil, b.partition, b.row)
			if got := bytes.Compare(x, y); got != want {
				t.Fatalf("%q against %q: %d, want %d", a, b, got, want)
			}
			if same := bytes.HasPrefix(y, key.Partition(x)); same != (a.partition == b.partition) {
				t.Fatalf("%q in the partition of %q: %v", b, a, same)
			}
		}
	}
}

func TestSplitWithoutSeparator(t *testing.T) {
	t.Parallel()
	if p, r := key.Split([]byte("abc")); string(p) != "abc" || r != nil {
		t.Errorf("got %q, %q", p, r)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, key string
		want     error
	}{
		{"empty", "", nil},
		{"ASCII", "a !$%&'()*+,-.:;<=>@[]^_`{|}~", nil},
		{"percent is legal, if troublesome", "%20%", nil},
		{"not ASCII", "ä€😀", nil},
		{"first behind the controls", "\u00a0", nil},
		{"the ends of the planes", "\ud7ff\ue000\uffff\U00010000\U0010ffff", nil},
		{"the replacement character itself", "\ufffd", nil},
		{"1024 characters", strings.Repeat("a", 1024), nil},
		{"1024 characters of three bytes", strings.Repeat("€", 1024), nil},
		{"512 surrogate pairs", strings.Repeat("😀", 512), nil},
		{"one character more", strings.Repeat("a", 1025), key.ErrLength},
		{"one more of two bytes", strings.Repeat("ä", 1025), key.ErrLength},
		{"a pair counts twice", strings.Repeat("😀", 512) + "a", key.ErrLength},
		{"slash", "a/b", key.ErrCharacter},
		{"backslash", `a\b`, key.ErrCharacter},
		{"number sign", "a#b", key.ErrCharacter},
		{"question mark", "a?b", key.ErrCharacter},
		{"NUL, which separates", "a\x00b", key.ErrCharacter},
		{"tab", "a\tb", key.ErrCharacter},
		{"last of the first controls", "\x1f", key.ErrCharacter},
		{"delete", "\x7f", key.ErrCharacter},
		{"first of the other controls", "\u0080", key.ErrCharacter},
		{"last of the other controls", "\u009f", key.ErrCharacter},
		{"control behind what is not ASCII", "ä\n", key.ErrCharacter},
		{"not UTF-8", "a\xff", key.ErrEncoding},
		{"surrogate in UTF-8", "\xed\xa0\x80", key.ErrEncoding},
		{"character cut off", "\xe2\x82", key.ErrEncoding},
	} {
		if got := key.Check(c.key); !errors.Is(got, c.want) {
			t.Errorf("%s: %.40q: got %v, want %v", c.why, c.key, got, c.want)
		}
	}
	for _, r := range alphabet {
		if err := key.Check(string(r)); err != nil {
			t.Errorf("U+%04X: %v", r, err)
		}
	}
	for _, r := range foreign {
		if err := key.Check("a" + string(r)); err != key.ErrCharacter {
			t.Errorf("U+%04X: %v", r, err)
		}
	}
}

// FuzzKey checks that an encoded legal key decodes to the same key, and that all methods to compare two legal keys
// agree.
func FuzzKey(f *testing.F) {
	f.Add("", "a", "\uffff", "\U00010000")
	f.Add("p", "", "p", "\u00e9")
	f.Fuzz(func(t *testing.T, p1, r1, p2, r2 string) {
		for _, s := range []string{p1, r1, p2, r2} {
			if key.Check(s) != nil {
				return
			}
		}
		a, b := key.Append(nil, p1, r1), key.Append(nil, p2, r2)
		want := cmp.Or(compareUTF16(p1, p2), compareUTF16(r1, r2))
		if got := bytes.Compare(a, b); got != want {
			t.Errorf("encoded: %d, want %d", got, want)
		}
		if got := sign(cmp.Or(key.Compare(p1, p2), key.Compare(r1, r2))); got != want {
			t.Errorf("Compare: %d, want %d", got, want)
		}
		if p, r := key.Decode(a); p != p1 || r != r1 {
			t.Errorf("%q, %q comes back as %q, %q", p1, r1, p, r)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	for name, k := range map[string]pair{
		"ascii":  {"customer-000042", "2026-11-21T10:00:00-0001"},
		"astral": {"😀-customer-0042", "\uffff-11-21T10:00:00-0001"},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				dst = key.Append(dst[:0], k.partition, k.row)
			}
		})
	}
}
