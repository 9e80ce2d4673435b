package workerskv_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf8"

	"edgetable/adapters/store/workerskv"
	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

// Names are legal, keep the order of keys, and lead back to them; what is no name
// of ours leads to nothing.
func FuzzName(f *testing.F) {
	f.Add("", "", "p", "r")
	f.Add("p", "\uffe0", "p", "\U0001F600")
	f.Add("a b", "", "a", "b")
	f.Add("e\x1e", "\x1f", "e\x1f0123", "\xff")
	f.Add(strings.Repeat("\uffe0", 200), "x", strings.Repeat("\uffe0", 200), "y")
	f.Fuzz(func(t *testing.T, p1, r1, p2, r2 string) {
		// Any string in place of a name.
		if k := workerskv.KeyOf(p1); k != nil && workerskv.NameOf(k) != p1 {
			t.Errorf("the name %q leads to %q, and that to %q", p1, k, workerskv.NameOf(k))
		}
		workerskv.MarkedBy(p1)
		for _, s := range []string{p1, r1, p2, r2} {
			if key.Check(s) != nil {
				return
			}
		}
		a, b := key.Append(nil, p1, r1), key.Append(nil, p2, r2)
		x, y := workerskv.NameOf(a), workerskv.NameOf(b)
		if strings.Compare(x, y) != bytes.Compare(a, b) {
			t.Errorf("%q and %q are in another order than %q and %q", x, y, a, b)
		}
		if !utf8.ValidString(x) || strings.Contains(x, "\x00") {
			t.Errorf("no legal name: %q", x)
		}
		if got := workerskv.KeyOf(x); !bytes.Equal(got, a) {
			t.Errorf("%q leads to %q, not %q", x, got, a)
		}
		if len(a) <= workerskv.MaxKey {
			return
		}
		mark := workerskv.MarkOf(a)
		begins := workerskv.MarkedBy(mark)
		if !utf8.ValidString(mark) || len(mark) > 512-16 || !bytes.HasPrefix(a, begins) || mark >= x {
			t.Errorf("the mark %q of %q says that it begins with %q", mark, a, begins)
		}
		if same := mark == workerskv.MarkOf(b); len(b) > workerskv.MaxKey && same != bytes.Equal(a, b) {
			t.Errorf("%q and %q have the same mark: %v", a, b, same)
		}
	})
}

// Metadata survives JSON, and has one spelling.
func FuzzCell(f *testing.F) {
	f.Add([]byte("01234567"), []byte("AQ"))
	f.Add(make([]byte, workerskv.MaxInline), []byte("AgjfR/4ao4iP"))
	f.Add(make([]byte, workerskv.MaxInline+1), []byte("AgjfR/4ao4iP\r\n"))
	f.Add([]byte{}, []byte("\"\\"))
	f.Fuzz(func(t *testing.T, body, foreign []byte) {
		if got, err := workerskv.ReadCell(body, foreign); err == nil {
			value, metadata := workerskv.Cell(got)
			if len(got) > workerskv.MaxInline && !bytes.Equal(value, body) || !bytes.Equal(metadata, foreign) {
				t.Errorf("%q with metadata %q is written as %q with %q", body, foreign, value, metadata)
			}
		}
		if len(body) < 8 {
			return
		}
		value, metadata := workerskv.Cell(body)
		for _, c := range metadata {
			if c <= ' ' || c > '~' || c == '"' || c == '\\' {
				t.Fatalf("JSON makes metadata %q longer", metadata)
			}
		}
		if len(metadata) > 1022 || len(value) > 0 && len(body) <= workerskv.MaxInline {
			t.Errorf("%d bytes have %d of metadata, and %d beside it", len(body), len(metadata), len(value))
		}
		if got, err := workerskv.ReadCell(value, metadata); err != nil || !bytes.Equal(got, body) {
			t.Errorf("%q comes back as %q, %v", body, got, err)
		}
	})
}

// A journal that is taken is written as it was read.
func FuzzJournal(f *testing.F) {
	row := table.Row{Timestamp: 7, Nonce: 1, Properties: edm.AppendProperty(nil, "n", edm.Int32(1))}
	f.Add(workerskv.Journal("p\x00r", 9, false, table.AppendRow(nil, &row)))
	f.Add(workerskv.Journal("p\x00r", 9, true, binary.BigEndian.AppendUint64(nil, 7)))
	f.Add([]byte("01234567\x01"))
	f.Add([]byte("01234567\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Fuzz(func(t *testing.T, body []byte) {
		again, err := workerskv.ReadJournal(body)
		if err != nil || len(body) == 0 {
			return
		}
		// Lengths may be written longer than they need to be.
		if twice, err := workerskv.ReadJournal(again); err != nil || !bytes.Equal(again, twice) || len(again) > len(body) {
			t.Errorf("%q is read as %q, and that as %q, %v", body, again, twice, err)
		}
	})
}

// Positions come from clients. One of ours is read as it was written, and sorts
// right behind its key.
func FuzzPosition(f *testing.F) {
	f.Add([]byte("p\x00r\x01\x00\x00\x01c\x00"), "p", "r", "cursor", "")
	f.Add([]byte("p\x01"), "p", "", "", "x\x00")
	f.Add([]byte("\x01\xff\xff\xff"), "", "", strings.Repeat("c", 2000), "")
	f.Fuzz(func(t *testing.T, foreign []byte, p, r, entities, journal string) {
		again, _, _ := workerskv.ReadPosition(foreign)
		if twice, _, _ := workerskv.ReadPosition(again); !bytes.Equal(again, twice) {
			t.Errorf("%q is read as %q, and that as %q", foreign, again, twice)
		}
		if key.Check(p) != nil || key.Check(r) != nil {
			return
		}
		k := key.Append(nil, p, r)
		position := workerskv.WritePosition(k, entities, journal)
		if bytes.Compare(position, k) <= 0 || bytes.Compare(position, append(k, ' ')) >= 0 {
			t.Errorf("%q is not right behind %q", position, k)
		}
		if _, e, j := workerskv.ReadPosition(position); e != entities && len(entities) <= 1500 || j != journal && len(journal) <= 1500 {
			t.Errorf("cursors %q and %q come back as %q and %q", entities, journal, e, j)
		}
	})
}
