package edm_test

import (
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"edgetable/core/edm"
)

func TestAppendDouble(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why  string
		f    float64
		want string
	}{
		{"zero", 0, "0.0"},
		{"negative zero", math.Copysign(0, -1), "-0.0"},
		{"whole numbers show that they are Doubles", 5, "5.0"},
		{"negative", -5, "-5.0"},
		{"fraction", 0.1, "0.1"},
		{"17 digits where 15 do not suffice", 1.0 / 3, "0.33333333333333331"},
		{"not 16", 0.7999999999999999, "0.79999999999999993"},
		{"largest without exponent", 999999999999999, "999999999999999.0"},
		{"exponent from 1E+15 on", 1e15, "1E+15"},
		{"explicit sign", 1e20, "1E+20"},
		{"smallest without exponent", 0.0001, "0.0001"},
		{"exponent below 1E-04", 0.00001, "1E-05"},
		{"just below 1E-04", 0.00009999, "9.999E-05"},
		{"the largest", math.MaxFloat64, "1.7976931348623157E+308"},
		{"the smallest", math.SmallestNonzeroFloat64, "4.94065645841247E-324"},
		{"beyond 2^53, with its 17 digits", 9007199254740993, "9007199254740992.0"},
		{"the largest without exponent of these", 12345678901234567, "12345678901234568.0"},
		{"above them", 123456789012345678, "1.2345678901234568E+17"},
		{"not a number", math.NaN(), "NaN"},
		{"infinite", math.Inf(1), "Infinity"},
		{"infinite the other way", math.Inf(-1), "-Infinity"},
	} {
		if got := string(edm.AppendDouble([]byte("x"), c.f)); got != "x"+c.want {
			t.Errorf("%s: got %s, want x%s", c.why, got, c.want)
		}
	}
}

// TestDoubleDigits checks that the text of a Double has 15 digits if these parse back to the same Double, and
// otherwise 17.
func TestDoubleDigits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 20_000 {
		f := math.Float64frombits(r.Uint64())
		switch i % 4 {
		case 1:
			f = float64(r.Int64()>>r.IntN(64)) / 1000
		case 2:
			f = math.Ldexp(r.Float64(), -1022-r.IntN(52))
		case 3:
			f = math.Round(r.Float64()*1e6) / 1e6
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		want := strconv.FormatFloat(f, 'G', 15, 64)
		if back, err := strconv.ParseFloat(want, 64); err != nil || back != f {
			want = strconv.FormatFloat(f, 'G', 17, 64)
		}
		if got := strings.TrimSuffix(string(edm.AppendDouble(nil, f)), ".0"); got != want {
			t.Fatalf("%b is written %s, want %s", f, got, want)
		}
	}
}

// TestDoubleRoundTrip checks that the text of any Double parses to the same bits and does not look like an integer.
func TestDoubleRoundTrip(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^-?([0-9]+\.[0-9]+|[0-9](\.[0-9]+)?E[+-][0-9]{2,3})$`)
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 20_000 {
		f := math.Float64frombits(r.Uint64())
		switch i % 4 {
		case 1:
			f = float64(r.Int64() >> r.IntN(64))
		case 2:
			f = math.Ldexp(r.Float64(), r.IntN(120)-60)
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		text := string(edm.AppendDouble(nil, f))
		if !form.MatchString(text) {
			t.Fatalf("%b is written %s", f, text)
		}
		if back, err := edm.ParseDouble(text); err != nil || math.Float64bits(back) != math.Float64bits(f) {
			t.Fatalf("%s reads as %v, %v", text, back, err)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	guid := [16]byte{0xc9, 0xda, 0x64, 0x55, 0x21, 0x3d, 0x42, 0xc9, 0x9a, 0x79, 0x3e, 0x91, 0x49, 0xa5, 0x78, 0x33}
	for _, c := range []struct {
		why  string
		typ  edm.Type
		text string
		want edm.Value // null if Parse must fail
	}{
		{"String is itself", edm.TypeString, " x\x00", edm.String(" x\x00")},
		{"empty String", edm.TypeString, "", edm.String("")},
		{"Binary", edm.TypeBinary, "AQI=", edm.Binary([]byte{1, 2})},
		{"empty Binary", edm.TypeBinary, "", edm.Binary(nil)},
		{"without padding", edm.TypeBinary, "AQI", edm.Binary([]byte{1, 2})},
		{"both of the last characters", edm.TypeBinary, "+/+/", edm.Binary([]byte{0xfb, 0xff, 0xbf})},
		{"the alphabet of URLs", edm.TypeBinary, "-_-_", edm.Value{}},
		{"too much padding", edm.TypeBinary, "AQI==", edm.Value{}},
		{"one character", edm.TypeBinary, "A", edm.Value{}},
		{"Boolean", edm.TypeBoolean, "true", edm.Boolean(true)},
		{"in any case", edm.TypeBoolean, "FALSE", edm.Boolean(false)},
		{"of .NET", edm.TypeBoolean, "True", edm.Boolean(true)},
		{"as a digit", edm.TypeBoolean, "1", edm.Boolean(true)},
		{"as the other digit", edm.TypeBoolean, "0", edm.Boolean(false)},
		{"empty Boolean", edm.TypeBoolean, "", edm.Value{}},
		{"another word", edm.TypeBoolean, "yes", edm.Value{}},
		{"Int32", edm.TypeInt32, "-2147483648", edm.Int32(math.MinInt32)},
		{"beyond Int32", edm.TypeInt32, "2147483648", edm.Value{}},
		{"Int32 with a fraction", edm.TypeInt32, "1.0", edm.Value{}},
		{"Int64", edm.TypeInt64, "9223372036854775807", edm.Int64(math.MaxInt64)},
		{"beyond Int64", edm.TypeInt64, "-9223372036854775809", edm.Value{}},
		{"with underscores", edm.TypeInt64, "1_000", edm.Value{}},
		{"hexadecimal", edm.TypeInt64, "0x10", edm.Value{}},
		{"empty number", edm.TypeInt64, "", edm.Value{}},
		{"Double", edm.TypeDouble, "1.5e3", edm.Double(1500)},
		{"whole", edm.TypeDouble, "5", edm.Double(5)},
		{"infinite", edm.TypeDouble, "Infinity", edm.Double(math.Inf(1))},
		{"of XML", edm.TypeDouble, "-INF", edm.Double(math.Inf(-1))},
		{"not a number", edm.TypeDouble, "NaN", edm.Double(math.NaN())},
		{"in another case", edm.TypeDouble, "nan", edm.Value{}},
		{"Go's infinity", edm.TypeDouble, "+Inf", edm.Value{}},
		{"too large", edm.TypeDouble, "1e400", edm.Value{}},
		{"too small is 0", edm.TypeDouble, "1e-400", edm.Double(0)},
		{"as the service writes its smallest", edm.TypeDouble, "4.94065645841247E-324", edm.Double(math.SmallestNonzeroFloat64)},
		{"hexadecimal Double", edm.TypeDouble, "0x1p3", edm.Value{}},
		{"Double with underscores", edm.TypeDouble, "1_0.0", edm.Value{}},
		{"two points", edm.TypeDouble, "1.2.3", edm.Value{}},
		{"empty Double", edm.TypeDouble, "", edm.Value{}},
		{"Guid", edm.TypeGuid, "c9da6455-213d-42c9-9a79-3e9149a57833", edm.Guid(guid)},
		{"upper-case Guid", edm.TypeGuid, "C9DA6455-213D-42C9-9A79-3E9149A57833", edm.Guid(guid)},
		{"with braces", edm.TypeGuid, "{c9da6455-213d-42c9-9a79-3e9149a57833}", edm.Value{}},
		{"without hyphens", edm.TypeGuid, "c9da6455213d42c99a793e9149a57833", edm.Value{}},
		{"hyphens elsewhere", edm.TypeGuid, "c9da645-5213d-42c9-9a79-3e9149a57833", edm.Value{}},
		{"a digit that is none", edm.TypeGuid, "g9da6455-213d-42c9-9a79-3e9149a57833", edm.Value{}},
		{"DateTime", edm.TypeDateTime, "1601-01-01T00:00:00Z", edm.DateTime(edm.MinDateTime)},
		{"no DateTime", edm.TypeDateTime, "x", edm.Value{}},
		{"null has no text", edm.TypeNull, "", edm.Value{}},
		{"no type", edm.Type(200), "x", edm.Value{}},
	} {
		got, err := edm.Parse(c.typ, c.text)
		if got != c.want || (err == nil) != (c.want.Type() != edm.TypeNull) {
			t.Errorf("%s: %v %q: got %v %v, %v", c.why, c.typ, c.text, got.Type(), got, err)
		}
	}
}

// TestTextRoundTrip checks that the text of any value parses to the same value.
func TestTextRoundTrip(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for range 5_000 {
		v := randomValue(r)
		if back, err := edm.Parse(v.Type(), v.String()); err != nil || back != v {
			t.Fatalf("%v %q reads as %v, %v", v.Type(), v, back, err)
		}
	}
}

// randomValue returns a value of any type except null. DateTimes are in range.
func randomValue(r *rand.Rand) edm.Value {
	text := strings.Repeat(string([]rune{'a', 'ä', '€', '😀', 0}[r.IntN(5)]), r.IntN(200))
	switch edm.TypeBinary + edm.Type(r.IntN(8)) {
	case edm.TypeBinary:
		return edm.Binary([]byte(text))
	case edm.TypeBoolean:
		return edm.Boolean(r.IntN(2) == 0)
	case edm.TypeDateTime:
		return edm.DateTime(edm.MinDateTime + edm.Ticks(r.Int64N(int64(edm.MaxDateTime-edm.MinDateTime)+1)))
	case edm.TypeDouble:
		if f := math.Float64frombits(r.Uint64()); !math.IsNaN(f) {
			return edm.Double(f)
		}
		return edm.Double(math.NaN())
	case edm.TypeGuid:
		var g [16]byte
		for i := range g {
			g[i] = byte(r.Uint32())
		}
		return edm.Guid(g)
	case edm.TypeInt32:
		return edm.Int32(int32(r.Uint32()))
	case edm.TypeInt64:
		return edm.Int64(int64(r.Uint64()))
	}
	return edm.String(text)
}

func TestTypeNames(t *testing.T) {
	t.Parallel()
	for typ := edm.TypeBinary; typ <= edm.TypeString; typ++ {
		if got, ok := edm.ParseType(typ.String()); !ok || got != typ {
			t.Errorf("%v reads as %v, %v", typ, got, ok)
		}
	}
	for _, name := range []string{"", "null", "Edm.?", "Edm.Single", "edm.string", "Edm.String ", "String"} {
		if got, ok := edm.ParseType(name); ok {
			t.Errorf("%q reads as %v", name, got)
		}
	}
}

func TestValueSize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why  string
		v    edm.Value
		want int
	}{
		{"null", edm.Value{}, 0},
		{"4 and 2 a character", edm.String("abc"), 10},
		{"characters are UTF-16", edm.String("ä€😀"), 12},
		{"4 and the bytes", edm.Binary([]byte("abc")), 7},
		{"Boolean", edm.Boolean(true), 1},
		{"DateTime", edm.DateTime(0), 8},
		{"Double", edm.Double(0), 8},
		{"Guid", edm.Guid([16]byte{}), 16},
		{"Int32", edm.Int32(0), 4},
		{"Int64", edm.Int64(0), 8},
	} {
		if got := c.v.Size(); got != c.want {
			t.Errorf("%s: %d, want %d", c.why, got, c.want)
		}
	}
}
