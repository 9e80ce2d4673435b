package edm_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"edgetable/core/edm"
)

// property is an element of the type list. The type list is a simple model of [edm.Properties] for tests.
type property struct {
	name  string
	value edm.Value
}

type list []property

func (l list) encode() (p edm.Properties) {
	for _, one := range l {
		p = edm.AppendProperty(p, one.name, one.value)
	}
	return p
}

func (l list) find(name string) int {
	for i, one := range l {
		if one.name == name {
			return i
		}
	}
	return -1
}

// randomList returns n properties with different names from a small set, so that two lists share some names.
func randomList(r *rand.Rand, n int) (l list) {
	for _, i := range r.Perm(n + n/2 + 1)[:n] {
		name := fmt.Sprintf("p%d", i)
		if i%7 == 0 {
			name += strings.Repeat("ä", i) // long, so that the length of some names takes two bytes
		}
		l = append(l, property{name, randomValue(r)})
	}
	return l
}

func equal(a, b list) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// FuzzProperties checks that reading terminates for any bytes, as a damaged store may return them.
func FuzzProperties(f *testing.F) {
	r := rand.New(rand.NewPCG(11, 12))
	f.Add([]byte(randomList(r, 20).encode()), []byte(randomList(r, 3).encode()))
	f.Add([]byte("\x01a\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), []byte("\x01a\x06"))
	f.Add([]byte("\x80"), []byte("\xff\xff\xff\xff\x0fa\x01"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		p, q := edm.Properties(a), edm.Properties(b)
		l := decode(p)
		if len(l) != p.Count() {
			t.Errorf("%d properties, Count %d", len(l), p.Count())
		}
		whole := 0
		for rest := p; ; whole++ {
			_, _, next, ok := rest.Next()
			if !ok {
				if p.Valid() != (len(rest) == 0) {
					t.Errorf("Valid is %v with %d bytes left over", p.Valid(), len(rest))
				}
				break
			}
			if len(next) >= len(rest) {
				t.Fatal("Next does not move on")
			}
			rest = next
		}
		if whole != len(l) {
			t.Errorf("Next finds %d, All %d", whole, len(l))
		}
		p.Gather([]string{"a", "p1"}, make([]edm.Value, 2))
		for _, one := range l {
			if v, ok := p.Lookup(one.name); !ok || v != l[l.find(one.name)].value {
				t.Errorf("Lookup of %q: %v, %v", one.name, v, ok)
			}
		}
		if m := p.Merge(q); p.Valid() && q.Valid() && !m.Valid() {
			t.Error("Merge of valid lists is not valid")
		}
	})
}
