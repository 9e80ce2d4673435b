package odata_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"unicode/utf16"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
)

// model is an entity as a map. It computes the expected results differently from the evaluator: with decoded keys,
// with strings in UTF-16, and with numbers as fractions.
type model map[string]edm.Value

// sign compares a stored value with a literal: −1, 0, 1, or 2 if one of them is NaN.
func sign(v, literal edm.Value) int {
	rank := map[edm.Type]int{edm.TypeInt32: 1, edm.TypeInt64: 2, edm.TypeDouble: 3}
	a, b := rank[v.Type()], rank[literal.Type()]
	switch {
	case a != 0 && b != 0 && b <= a:
		x, xok := fraction(v)
		y, yok := fraction(literal)
		switch {
		case xok && yok:
			return x.Cmp(y)
		case math.IsNaN(asFloat(v)) || math.IsNaN(asFloat(literal)):
			return 2
		}
		return compareOrdered(asFloat(v), asFloat(literal)) // one number is infinite, or both are
	case v.Type() != literal.Type():
		return -1
	case v.Type() == edm.TypeString:
		return slices.Compare(utf16.Encode([]rune(v.Text())), utf16.Encode([]rune(literal.Text())))
	case v.Type() == edm.TypeBoolean:
		return compareOrdered(v.String(), literal.String()) // the texts have the same order as the values: "false" < "true"
	case v.Type() == edm.TypeDateTime:
		return v.Ticks().Time().Compare(literal.Ticks().Time())
	}
	return compareOrdered(fmt.Sprintf("%x", v.Text()), fmt.Sprintf("%x", literal.Text())) // the remaining types: Guid and Binary
}

func compareOrdered[T float64 | string](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func asFloat(v edm.Value) float64 {
	if v.Type() == edm.TypeDouble {
		return v.Float()
	}
	return float64(v.Int())
}

func fraction(v edm.Value) (*big.Rat, bool) {
	if v.Type() == edm.TypeDouble {
		r := new(big.Rat).SetFloat64(v.Float())
		return r, r != nil
	}
	return new(big.Rat).SetInt64(v.Int()), true
}

func (m model) holds(name, op string, literal edm.Value) bool {
	v, ok := m[name]
	if !ok {
		return false
	}
	s := sign(v, literal)
	switch op {
	case "eq":
		return s == 0
	case "ne":
		return s != 0
	case "lt":
		return s == -1
	case "le":
		return s == -1 || s == 0
	case "gt":
		return s == 1
	}
	return s == 1 || s == 0
}

// randomFilter returns the text of a filter, and a function that reports whether a model matches it.
func randomFilter(r *rand.Rand, depth int) (string, func(model) bool) {
	if depth == 0 || r.IntN(4) == 0 {
		if r.IntN(4) == 0 {
			return randomCall(r)
		}
		names := []string{"PartitionKey", "PartitionKey", "RowKey", "RowKey", "Timestamp", "A", "B", "C", "D", "E", "F", "G", "H", "I", "J"}
		name := names[r.IntN(len(names))]
		op := []string{"eq", "eq", "ne", "lt", "le", "gt", "ge"}[r.IntN(7)]
		literal := randomValue(r)
		switch name { // choose literals that are compatible with the types of keys and Timestamp
		case "PartitionKey", "RowKey":
			literal = edm.String(randomString(r, true))
		case "Timestamp":
			literal = edm.DateTime(edm.MinDateTime + edm.Ticks(r.IntN(3)))
		}
		return name + " " + op + " " + odata.Literal(literal), func(m model) bool { return m.holds(name, op, literal) }
	}
	a, fa := randomFilter(r, depth-1)
	switch r.IntN(7) {
	case 0:
		return "not (" + a + ")", func(m model) bool { return !fa(m) }
	case 1, 2, 3:
		b, fb := randomFilter(r, depth-1)
		return "(" + a + ") or (" + b + ")", func(m model) bool { return fa(m) || fb(m) }
	}
	b, fb := randomFilter(r, depth-1)
	return "(" + a + ") and (" + b + ")", func(m model) bool { return fa(m) && fb(m) }
}

// randomCall returns the text of a random function call in a filter, for example startswith(A,'x'). It also returns a
// Go function that computes the expected result for a model of an entity. The Go function compares UTF-16 code units.
func randomCall(r *rand.Rand) (string, func(model) bool) {
	name := []string{"PartitionKey", "RowKey", "A", "B", "J"}[r.IntN(5)]
	part := randomString(r, true)
	units := utf16.Encode([]rune(part))
	literal := odata.Literal(edm.String(part))
	text, of := "", func(s []uint16) bool { return false }
	switch r.IntN(4) {
	case 0:
		text, of = "startswith("+name+","+literal+")", func(s []uint16) bool { return slices.Equal(s[:min(len(s), len(units))], units) }
	case 1:
		text, of = "endswith( "+name+" , "+literal+" )", func(s []uint16) bool { return slices.Equal(s[max(len(s)-len(units), 0):], units) }
	default:
		text = "contains(" + name + "," + literal + ")"
		if r.IntN(2) == 0 {
			text = "substringof(" + literal + "," + name + ")"
		}
		of = func(s []uint16) bool {
			for i := 0; i+len(units) <= len(s); i++ {
				if slices.Equal(s[i:i+len(units)], units) {
					return true
				}
			}
			return false
		}
	}
	holds := func(m model) bool {
		v, ok := m[name]
		return ok && v.Type() == edm.TypeString && of(utf16.Encode([]rune(v.Text())))
	}
	switch r.IntN(5) {
	case 0:
		return text + " eq true", holds
	case 1:
		return "(" + text + ") ne true", func(m model) bool { return !holds(m) }
	case 2:
		return "false eq " + text, func(m model) bool { return !holds(m) }
	}
	return text, holds
}

// randomString returns a short string from a small set of characters, so that strings are often equal.
func randomString(r *rand.Rand, any bool) string {
	alphabet := []string{"a", "b", "'", "\uD7FF", "\uE000", "\uFFFD", "😀", "/", "\x01", "\x1F", "\x7F"}
	if !any {
		alphabet = alphabet[:7]
	}
	s := ""
	for range r.IntN(3) {
		s += alphabet[r.IntN(len(alphabet))]
	}
	return s
}

func randomValue(r *rand.Rand) edm.Value {
	ints := []int64{-1, 0, 1, 2, 1 << 53, 1<<53 + 1, math.MaxInt64, math.MinInt64}
	switch r.IntN(8) {
	case 0:
		return edm.Int32(int32(r.IntN(4) - 1))
	case 1:
		return edm.Int64(ints[r.IntN(len(ints))])
	case 2:
		floats := []float64{0.5, -0.5, 1e300, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)}
		if i := r.IntN(len(floats) + len(ints)); i < len(floats) {
			return edm.Double(floats[i])
		}
		return edm.Double(float64(ints[r.IntN(len(ints))]))
	case 3:
		return edm.Boolean(r.IntN(2) == 0)
	case 4:
		return edm.DateTime(edm.MinDateTime + edm.Ticks(r.IntN(3)))
	case 5:
		return edm.Guid([16]byte{15: byte(r.IntN(2))})
	case 6:
		return edm.Binary([]byte("\x00\x01\xFF")[:r.IntN(4)])
	}
	return edm.String(randomString(r, true))
}

// TestModel compares the evaluator, the planner and the printer with a simple model of filters (the type model). The
// filters and entities are random.
func TestModel(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	kinds := map[string]int{}
	for range 4000 {
		text, holds := randomFilter(r, r.IntN(5))
		for _, name := range []string{"RowKey", "PartitionKey"}[r.IntN(2):] { // begin with comparisons of keys, as most queries do
			if r.IntN(2) == 0 {
				literal, rest := edm.String(randomString(r, false)), holds
				text = name + " eq " + odata.Literal(literal) + " and (" + text + ")"
				holds = func(m model) bool { return m.holds(name, "eq", literal) && rest(m) }
			}
		}
		f := mustParse(t, text)
		if again := mustParse(t, f.String()); again.String() != f.String() {
			t.Fatalf("%q prints as %q, that as %q", text, f, again)
		}
		decoded := decode(t, f)
		kinds[odata.MakePlan(f).Kind]++
		for range 10 {
			pk, rk := randomString(r, false), randomString(r, false)
			timestamp := edm.MinDateTime + edm.Ticks(r.IntN(3))
			m := model{"PartitionKey": edm.String(pk), "RowKey": edm.String(rk), "Timestamp": edm.DateTime(timestamp)}
			var p edm.Properties
			for _, name := range []string{"J", "X", "A", "B", "C", "D", "E", "F", "Y", "G", "H", "I"} {
				if r.IntN(4) != 0 {
					m[name] = randomValue(r)
					p = edm.AppendProperty(p, name, m[name])
				}
			}
			k := key.Append(nil, pk, rk)
			if got, want := decoded.Match(k, timestamp, p), holds(m); got != want {
				t.Fatalf("%q is %v of %v", text, got, m)
			}
			checkPlan(t, f, k, timestamp, p)
		}
		if t.Failed() {
			return
		}
	}
	for _, kind := range []string{"Nothing", "Point", "Rows", "Partition", "Range", "Table"} {
		if kinds[kind] < 20 {
			t.Errorf("%d plans of kind %s: the filters are not varied enough", kinds[kind], kind)
		}
	}
}
