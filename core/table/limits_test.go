package table_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/table"
)

func TestCheckTableName(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		want table.Code
		why  string
	}{
		{"abc", "", "the shortest"},
		{strings.Repeat("a", 63), "", "the longest"},
		{"A1b2C3", "", "digits behind a letter"},
		{"aAzZ09", "", "the first and the last letters and digits"},
		{"Zz0", "", "the last letter first"},
		{"TABLE", "", "only the plural is reserved"},
		{"ab", table.OutOfRangeInput, "too short"},
		{"", table.OutOfRangeInput, "empty"},
		{strings.Repeat("a", 64), table.OutOfRangeInput, "too long"},
		{"-", table.OutOfRangeInput, "length comes first"},
		{"1abc", table.InvalidResourceName, "a digit first"},
		{"a-b", table.InvalidResourceName, "a dash"},
		{"a_b", table.InvalidResourceName, "an underscore"},
		{"täb", table.InvalidResourceName, "a letter beyond ASCII"},
		{"abc\x00", table.InvalidResourceName, "a control character"},
		{"a@c", table.InvalidResourceName, "the neighbour of A"},
		{"a[c", table.InvalidResourceName, "the neighbour of Z"},
		{"a`c", table.InvalidResourceName, "the neighbour of a"},
		{"a{c", table.InvalidResourceName, "the neighbour of z"},
		{"tables", table.InvalidInput, "reserved"},
		{"TaBles", table.InvalidInput, "reserved in any case"},
	} {
		if got := code(t, table.CheckTableName(tt.name)); got != tt.want {
			t.Errorf("%q (%s): got %q, want %q", tt.name, tt.why, got, tt.want)
		}
	}
}

func TestFoldName(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, want string }{
		{"abc", "abc"}, {"ABC", "abc"}, {"aBc9", "abc9"}, {"", ""}, {"ÄB", "Äb"}, {"[Z`z{", "[z`z{"}, {"A@Z[_\x01", "a@z[_\x01"}, {"BÄ", "bÄ"},
	} {
		if got := table.FoldName(tt.name); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// formula computes the size of an entity with the service's published formula, property by property.
func formula(pk, rk string, p edm.Properties) int {
	chars := func(s string) int { return len(utf16.Encode([]rune(s))) }
	n := 4 + 2*(chars(pk)+chars(rk))
	for name, v := range p.All() {
		n += 8 + 2*chars(name)
		switch v.Type() {
		case edm.TypeString:
			n += 4 + 2*chars(v.Text())
		case edm.TypeBinary:
			n += 4 + len(v.Bytes())
		case edm.TypeGuid:
			n += 16
		case edm.TypeBoolean:
			n++
		case edm.TypeInt32:
			n += 4
		case edm.TypeInt64, edm.TypeDouble, edm.TypeDateTime:
			n += 8
		}
	}
	return n
}

func TestEntitySize(t *testing.T) {
	t.Parallel()
	var p edm.Properties
	p = edm.AppendProperty(p, "Name", edm.String("grüß 😀"))     // 8 per property + 8 for the name + 18 for the value
	p = edm.AppendProperty(p, "B", edm.Binary([]byte{1, 2, 3})) // 8 per property + 2 for the name + 7 for the value
	p = edm.AppendProperty(p, "T", edm.Boolean(true))           // 8 per property + 2 for the name + 1 for the value
	p = edm.AppendProperty(p, "I", edm.Int32(1))                // 8 per property + 2 for the name + 4 for the value
	p = edm.AppendProperty(p, "L", edm.Int64(1))                // 8 per property + 2 for the name + 8 for the value
	p = edm.AppendProperty(p, "D", edm.Double(1))               // 8 per property + 2 for the name + 8 for the value
	p = edm.AppendProperty(p, "W", edm.DateTime(1))             // 8 per property + 2 for the name + 8 for the value
	p = edm.AppendProperty(p, "G", edm.Guid([16]byte{}))        // 8 per property + 2 for the name + 16 for the value
	const want = 4 + 2*(1+2) + 34 + 17 + 11 + 14 + 18 + 18 + 18 + 26
	if got := table.EntitySize("p", "😀", p); got != want || formula("p", "😀", p) != want {
		t.Errorf("got %d, by the formula %d, want %d", got, formula("p", "😀", p), want)
	}
	if got := table.EntitySize("", "", nil); got != 4 {
		t.Errorf("nothing at all: %d", got)
	}
}

// TestCheckSizeAgreesWithTheFormula compares checkSize with the formula for random keys, names and values. This is
// necessary because checkSize does not compute the exact size of small entities.
func TestCheckSizeAgreesWithTheFormula(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(3, 4))
	alphabet := []string{"a", "é", "€", "😀", "\ue000", "\uffff"}
	text := func(max int) string {
		return strings.Repeat(alphabet[rnd.IntN(len(alphabet))], rnd.IntN(max+1))
	}
	above := 0
	for range 200 {
		pk, rk := text(400), text(400)
		var p edm.Properties
		large := 16 + rnd.IntN(4)
		for i := range rnd.IntN(table.MaxProperties + 4) {
			name := "P" + edm.Int32(int32(i)).String() + text(3)
			var v edm.Value
			switch n := rnd.IntN(8); {
			case i < large && rnd.IntN(20) > 0:
				v = edm.String(strings.Repeat(alphabet[rnd.IntN(3)], 30_000+rnd.IntN(2769)))
			case n == 0:
				v = edm.Guid([16]byte{1})
			case n == 1:
				v = edm.Int64(rnd.Int64())
			case n == 2:
				v = edm.Boolean(true)
			case n == 3:
				v = edm.DateTime(1)
			case n == 4:
				v = edm.Binary(make([]byte, rnd.IntN(1000)))
			case n == 5:
				v = edm.Int32(0)
			case n == 6:
				v = edm.Double(1)
			default:
				v = edm.String(text(10))
			}
			p = edm.AppendProperty(p, name, v)
		}
		var want table.Code
		switch {
		case p.Count() > table.MaxProperties:
			want = table.TooManyProperties
		case formula(pk, rk, p) > table.MaxEntitySize:
			want = table.EntityTooLarge
			above++
		}
		if got := code(t, table.CheckSize(key.Append(nil, pk, rk), p)); got != want {
			t.Fatalf("size %d of %d properties: got %q, want %q", formula(pk, rk, p), p.Count(), got, want)
		}
	}
	if above == 0 {
		t.Error("no entity was too large: nothing was tested")
	}
}

// TestEntitySizeAtTheLimit checks that an entity of exactly 1 MiB is accepted, and that one more byte is too much.
func TestEntitySizeAtTheLimit(t *testing.T) {
	t.Parallel()
	var p edm.Properties
	for i := range 16 {
		p = edm.AppendProperty(p, "S"+edm.Int32(int32(10+i)).String(), edm.String(strings.Repeat("a", 32_000)))
	}
	k := key.Append(nil, "p", "r")
	rest := table.MaxEntitySize - table.EntitySize("p", "r", p) - 8 - 2 - 4
	for extra, want := range []table.Code{"", table.EntityTooLarge} {
		q := edm.AppendProperty(append(edm.Properties(nil), p...), "B", edm.Binary(make([]byte, rest+extra)))
		if got := code(t, table.CheckSize(k, q)); got != want {
			t.Errorf("%d bytes: got %q, want %q", table.EntitySize("p", "r", q), got, want)
		}
		q = edm.AppendProperty(append(edm.Properties(nil), p...), "B", edm.String(strings.Repeat("a", rest/2+extra)))
		if got := code(t, table.CheckSize(k, q)); got != want {
			t.Errorf("%d bytes of text: got %q, want %q", table.EntitySize("p", "r", q), got, want)
		}
	}
}

// TestCheckKeyMessage checks the error for an illegal key. The message must not repeat more characters of the key than
// a legal key can have.
func TestCheckKeyMessage(t *testing.T) {
	t.Parallel()
	legal := strings.Repeat("é", key.MaxLength-1) + "/"
	for _, tt := range []struct{ value, shown string }{
		{"a/b", "a/b"},
		{legal, legal},
		{strings.Repeat("€", key.MaxLength-1) + "///", strings.Repeat("€", key.MaxLength-1) + "///"},
		{legal + strings.Repeat("é", 1<<20), legal + strings.Repeat("é", 512) + "…"},
	} {
		want := "The 'RowKey' parameter of value '" + tt.shown + "' is out of range."
		var e *table.Error
		if err := table.CheckKey("RowKey", tt.value); !errors.As(err, &e) || e.Code != table.OutOfRangeInput || e.Message != want {
			t.Errorf("%.20q: %.80v… (%d bytes)", tt.value, err, len(err.Error()))
		}
	}
}

// TestNearLimitOfLongKeys checks that the bytes of long keys count, of the PartitionKey and of the RowKey.
func TestNearLimitOfLongKeys(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("€", key.MaxLength)
	for _, k := range [][2]string{{long, ""}, {"", long}} {
		var p edm.Properties
		for left := table.MaxEntitySize - table.EntitySize(k[0], k[1], nil); left >= 16; {
			n := min((left-8-2-4)/2, table.MaxStringLength)
			p = edm.AppendProperty(p, string(rune('a'+p.Count())), edm.String(strings.Repeat("x", n)))
			left -= 8 + 2 + 4 + 2*n
		}
		if !table.NearLimit(k[0], k[1], p) {
			t.Errorf("an entity of %d bytes is not near the limit", table.EntitySize(k[0], k[1], p))
		}
	}
}

// TestNearLimit checks that NearLimit reports a legal entity if its size is less than 160 bytes below the limit.
func TestNearLimit(t *testing.T) {
	t.Parallel()
	const empty = 4 + 2 + 2 // the size of an entity whose keys have one character each, without properties
	for _, tt := range []struct {
		below int // how many bytes the entity is below the limit
		want  bool
	}{{0, true}, {158, true}, {160, false}, {100_000, false}} {
		var p edm.Properties
		for i, left := 0, table.MaxEntitySize-tt.below-empty; left > 0; i++ {
			value := min(left-8-2-4, 65_536) / 2 * 2
			p = edm.AppendProperty(p, string(rune('a'+i)), edm.String(strings.Repeat("x", value/2)))
			left -= 8 + 2 + 4 + value
			if left < 14 {
				if size := table.EntitySize("p", "r", p); table.MaxEntitySize-size-tt.below > 14 {
					t.Fatalf("the entity has %d bytes", size)
				}
				break
			}
		}
		if got := table.NearLimit("p", "r", p); got != tt.want {
			t.Errorf("%d bytes below the limit: %t, size %d", tt.below, got, table.EntitySize("p", "r", p))
		}
	}
}
