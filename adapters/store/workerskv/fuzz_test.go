package workerskv

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"edgetable/core/key"
)

// FuzzName checks that the names of entities are valid, sort like their keys, and decode to these keys. All other
// names must decode to no key.
func FuzzName(f *testing.F) {
	f.Add("", "", "p", "r")
	f.Add("p", "\uffe0", "p", "\U0001F600")
	f.Add("a b", "", "a", "b")
	f.Add("e\x1e", "\x1f", "e\x1f0123", "\xff")
	f.Add(strings.Repeat("\uffe0", 200), "x", strings.Repeat("\uffe0", 200), "y")
	f.Fuzz(func(t *testing.T, p1, r1, p2, r2 string) {
		// KV may contain any string as a name. The string must decode to no key, or to a key with this
		// name.
		if k := keyOf(spaceEntities, p1); k != nil && nameOf(spaceEntities, k) != p1 {
			t.Errorf("the name %q leads to %q, and that to %q", p1, k, nameOf(spaceEntities, k))
		}
		markedBy(spaceEntities, p1)
		for _, s := range []string{p1, r1, p2, r2} {
			if key.Check(s) != nil {
				return
			}
		}
		a, b := key.Append(nil, p1, r1), key.Append(nil, p2, r2)
		x, y := nameOf(spaceEntities, a), nameOf(spaceEntities, b)
		if strings.Compare(x, y) != bytes.Compare(a, b) {
			t.Errorf("%q and %q are in another order than %q and %q", x, y, a, b)
		}
		if !utf8.ValidString(x) || strings.Contains(x, "\x00") {
			t.Errorf("no legal name: %q", x)
		}
		if got := keyOf(spaceEntities, x); !bytes.Equal(got, a) {
			t.Errorf("%q leads to %q, not %q", x, got, a)
		}
		if len(a) <= maxKey {
			return
		}
		mark := markOf(spaceEntities, a)
		begins := markedBy(spaceEntities, mark)
		if !utf8.ValidString(mark) || len(mark) > 512-16 || !bytes.HasPrefix(a, begins) || mark >= x {
			t.Errorf("the mark %q of %q says that it begins with %q", mark, a, begins)
		}
		if same := mark == markOf(spaceEntities, b); len(b) > maxKey && same != bytes.Equal(a, b) {
			t.Errorf("%q and %q have the same mark: %v", a, b, same)
		}
	})
}

// FuzzCell checks that metadata needs no escapes in JSON, and that each cell has exactly one encoding.
func FuzzCell(f *testing.F) {
	f.Add([]byte("01234567"), []byte("AQ"))
	f.Add(make([]byte, maxInline), []byte("AgjfR/4ao4iP"))
	f.Add(make([]byte, maxInline+1), []byte("AgjfR/4ao4iP\r\n"))
	f.Add([]byte{}, []byte("\"\\"))
	f.Fuzz(func(t *testing.T, body, foreign []byte) {
		if got, err := decodeCell(body, foreign); err == nil {
			value, metadata := encodeCell(got)
			if len(got) > maxInline && !bytes.Equal(value, body) || !bytes.Equal(metadata, foreign) {
				t.Errorf("%q with metadata %q is written as %q with %q", body, foreign, value, metadata)
			}
		}
		if len(body) < 8 {
			return
		}
		value, metadata := encodeCell(body)
		for _, c := range metadata {
			if c <= ' ' || c > '~' || c == '"' || c == '\\' {
				t.Fatalf("JSON makes metadata %q longer", metadata)
			}
		}
		if len(metadata) > 1022 || len(value) > 0 && len(body) <= maxInline {
			t.Errorf("%d bytes have %d of metadata, and %d beside it", len(body), len(metadata), len(value))
		}
		if got, err := decodeCell(value, metadata); err != nil || !bytes.Equal(got, body) {
			t.Errorf("%q comes back as %q, %v", body, got, err)
		}
	})
}

// FuzzPosition checks that an encoded position decodes to the same values and sorts directly after its key. Positions
// come from clients, so splitPosition must also accept any other bytes.
func FuzzPosition(f *testing.F) {
	f.Add([]byte("p\x00r\x01\x00\x00\x01c"), "p", "r", "cursor")
	f.Add([]byte("p\x01"), "p", "", "")
	f.Add([]byte("\x01\xff\xff\xff"), "", "", strings.Repeat("c", 2000))
	f.Fuzz(func(t *testing.T, foreign []byte, p, r, kv string) {
		again, _ := readAgain(foreign)
		if twice, _ := readAgain(again); !bytes.Equal(again, twice) {
			t.Errorf("%q is read as %q, and that as %q", foreign, again, twice)
		}
		if key.Check(p) != nil || key.Check(r) != nil {
			return
		}
		k := key.Append(nil, p, r)
		position := cursor{kv: kv}.position(k)
		if bytes.Compare(position, k) <= 0 || bytes.Compare(position, append(k, ' ')) >= 0 {
			t.Errorf("%q is not right after %q", position, k)
		}
		if _, got := readAgain(position); got != kv && len(kv) <= 1500 {
			t.Errorf("cursor %q comes back as %q", kv, got)
		}
	})
}

// readAgain decodes a position and encodes the result. A test can then compare the result with the original
// position.
func readAgain(position []byte) (again []byte, kv string) {
	k, c := splitPosition(position)
	if n := len(k); c != (cursor{}) {
		k = c.position(k[:n-1])
	}
	return k, c.kv
}
