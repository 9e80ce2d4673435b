package edm_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unsafe"

	"edgetable/core/edm"
)

func decode(p edm.Properties) (l list) {
	for name, v := range p.All() {
		l = append(l, property{name, v})
	}
	return l
}

func TestPropertiesKeepEverything(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	for round := range 150 {
		want := randomList(r, round%100)
		p := want.encode()
		if !equal(decode(p), want) {
			t.Fatalf("got %v, want %v", decode(p), want)
		}
		if p.Count() != len(want) || !p.Valid() {
			t.Fatalf("%d properties, valid %v, want %d", p.Count(), p.Valid(), len(want))
		}
		var next list
		for q := p; ; {
			name, v, rest, ok := q.Next()
			if !ok {
				if len(q) != 0 {
					t.Fatalf("Next ends %d bytes early", len(q))
				}
				break
			}
			next = append(next, property{name, v})
			q = rest
		}
		if !equal(next, want) {
			t.Fatalf("by Next: got %v, want %v", next, want)
		}
		for i := range 160 {
			name := fmt.Sprintf("p%d", i)
			v, ok := p.Lookup(name)
			at := want.find(name)
			if ok != (at >= 0) || ok && v != want[at].value {
				t.Fatalf("Lookup of %s: %v, %v", name, v, ok)
			}
		}
		names := []string{"p0", "p3", "absent", "p2", "p7" + strings.Repeat("ä", 7)}
		values := slices.Repeat([]edm.Value{edm.Boolean(false)}, len(names))
		p.Gather(names, values)
		for i, name := range names {
			one := edm.Boolean(false) // for an absent property, Gather must leave the value unchanged
			if at := want.find(name); at >= 0 {
				one = want[at].value
			}
			if values[i] != one {
				t.Fatalf("Gather of %s: %v, want %v", name, values[i], one)
			}
		}
		if half := want[:len(want)/2]; !bytes.Equal(append(half.encode(), want[len(half):].encode()...), p) {
			t.Fatal("an appended list does not join the first one")
		}
	}
}

func TestNullIsNotAppended(t *testing.T) {
	t.Parallel()
	if p := edm.AppendProperty(nil, "a", edm.Value{}); p != nil {
		t.Errorf("got %v", p)
	}
}

func TestAllStops(t *testing.T) {
	t.Parallel()
	p := list{{"a", edm.Int32(1)}, {"b", edm.Int32(2)}}.encode()
	for name := range p.All() {
		if name != "a" {
			t.Fatalf("the loop continues with %s after the end", name)
		}
		break
	}
}

// TestStoredForm checks that the encoding of properties never changes, because stores on disk contain it.
func TestStoredForm(t *testing.T) {
	t.Parallel()
	got := list{
		{"b", edm.Boolean(true)},
		{"bin", edm.Binary([]byte{0xff})},
		{"d", edm.DateTime(edm.MinDateTime)},
		{"f", edm.Double(1.5)},
		{"g", edm.Guid([16]byte{15: 9})},
		{"i", edm.Int32(-2)},
		{"l", edm.Int64(-2)},
		{"s", edm.String("hé")},
		{"x", edm.String(strings.Repeat("x", 200))},
	}.encode()
	want := "\x01b\x02\x01" +
		"\x03bin\x01\x01\xff" +
		"\x01d\x03\x07\x01\xce\x17\x22\x77\x00\x00" +
		"\x01f\x04\x3f\xf8\x00\x00\x00\x00\x00\x00" +
		"\x01g\x05" + strings.Repeat("\x00", 15) + "\x09" +
		"\x01i\x06\xff\xff\xff\xfe" +
		"\x01l\x07\xff\xff\xff\xff\xff\xff\xff\xfe" +
		"\x01s\x08\x03h\xc3\xa9" +
		"\x01x\x08\xc8\x01" + strings.Repeat("x", 200)
	if string(got) != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 10))
	for round := range 200 {
		old, patch := randomList(r, 1+round%60), randomList(r, round/4)
		var want list
		for _, one := range old {
			if i := patch.find(one.name); i >= 0 {
				one = patch[i]
			}
			want = append(want, one)
		}
		for _, one := range patch {
			if old.find(one.name) < 0 {
				want = append(want, one)
			}
		}
		slices.SortFunc(want, func(a, b property) int { return strings.Compare(a.name, b.name) })
		a, b := old.encode(), patch.encode()
		keepA, keepB := bytes.Clone(a), bytes.Clone(b)
		got := a.Merge(b)
		if !equal(decode(got), want) {
			t.Fatalf("%v\nmerged with %v\nis   %v\nwant %v", old, patch, decode(got), want)
		}
		if !bytes.Equal(a, keepA) || !bytes.Equal(b, keepB) {
			t.Fatal("Merge wrote to an argument")
		}
		if again := got.Merge(b); !bytes.Equal(again, got) {
			t.Fatal("merging the same patch again changes the entity")
		}
		room := make([]byte, 0, len(a)+len(b))
		if in := a.MergeIn(room, b); !bytes.Equal(in, got) || cap(room) > 0 && unsafe.SliceData(in) != unsafe.SliceData(room) {
			t.Fatal("the result in the room that it gets is another one, or not there")
		}
	}
}

// TestTruncated checks that reading a truncated list stops after the last complete property and never reads beyond
// its end.
func TestTruncated(t *testing.T) {
	t.Parallel()
	var whole list
	r := rand.New(rand.NewPCG(13, 14))
	for typ := edm.TypeBinary; typ <= edm.TypeString; {
		if v := randomValue(r); v.Type() == typ {
			whole = append(whole, property{fmt.Sprintf("p%d", typ), v})
			typ++
		}
	}
	p := whole.encode()
	ends := map[int]int{0: 0} // maps the length of each valid prefix to its number of properties
	for i := range whole {
		ends[len(whole[:i+1].encode())] = i + 1
	}
	n := 0
	for length := range len(p) + 1 {
		cut := p[:length:length]
		count, valid := ends[length]
		if valid {
			n = count
		}
		if cut.Valid() != valid || cut.Count() != n || !equal(decode(cut), whole[:n]) {
			t.Errorf("%d of %d bytes: valid %v, %d properties, want %v, %d", length, len(p), cut.Valid(), cut.Count(), valid, n)
		}
	}
}

// TestReadingDoesNotAllocate checks that values share the memory of the list.
func TestReadingDoesNotAllocate(t *testing.T) {
	p := list{{"a", edm.String("text")}, {"b", edm.Guid([16]byte{})}, {"c", edm.Int64(1)}}.encode()
	if n := testing.AllocsPerRun(100, func() {
		sum := 0
		for name, v := range p.All() {
			sum += len(name) + len(v.Text())
		}
		if _, ok := p.Lookup("c"); !ok || sum != 23 {
			t.Error("Lookup does not find the property")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestUTF16Len(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "a", "ä", "€", "😀", "a😀b", "\U0010ffff", "\uffff\ue000", "plain ASCII", "ASCII, then ж"} {
		if got, want := edm.UTF16Len(s), len(utf16.Encode([]rune(s))); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
	if got := edm.UTF16Len("a\xff\xfe"); got != 3 {
		t.Errorf("bytes that are not UTF-8: %d", got)
	}
}

func TestValuesAreComparable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why  string
		a, b edm.Value
		want bool
	}{
		{"equal", edm.String("a"), edm.String("a"), true},
		{"NaN equals itself", edm.Double(math.NaN()), edm.Double(math.NaN()), true},
		{"zeros differ", edm.Double(0), edm.Double(math.Copysign(0, -1)), false},
		{"types differ", edm.Int32(1), edm.Int64(1), false},
		{"String and Binary differ", edm.String("a"), edm.Binary([]byte("a")), false},
		{"negative integers", edm.Int32(-1), edm.Int32(-1), true},
	} {
		if (c.a == c.b) != c.want {
			t.Errorf("%s: %v == %v is %v", c.why, c.a, c.b, c.a == c.b)
		}
	}
	if edm.Int32(-5).Int() != -5 || edm.Int64(math.MinInt64).Int() != math.MinInt64 {
		t.Error("the sign of an integer is lost")
	}
}

// BenchmarkMerge merges an entity, sorted by an earlier merge, with a patch that has the same names in another order.
func BenchmarkMerge(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		b.Run(fmt.Sprint("properties=", n), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			var patch list
			for _, i := range r.Perm(n) {
				patch = append(patch, property{fmt.Sprintf("Property%03d", i), randomValue(r)})
			}
			p := patch.encode()
			entity := p.Merge(p)
			b.ReportAllocs()
			for b.Loop() {
				entity.Merge(p)
			}
		})
	}
}
