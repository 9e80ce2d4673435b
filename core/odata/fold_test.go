package odata_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
)

// TestFold checks how Fold translates filters. For random entities, it also checks that the translated filter is true
// for exactly those entities that match the original filter.
func TestFold(t *testing.T) {
	t.Parallel()
	show := func(text string) string {
		return odata.Fold(mustParse(t, text), func(x odata.Test) string {
			return fmt.Sprintf("%s%05b%s", x.Name, x.Holds, x.Literal)
		}, func(all bool, parts []string) string {
			return fmt.Sprintf("%v(%s)", all, strings.Join(parts, " "))
		})
	}
	for _, x := range []struct{ filter, want, because string }{
		{"", "true()", "no filter is true"},
		{"false", "false()", "a constant"},
		{"A lt 5", "A000015", "less"},
		{"not (A lt 5)", "A111105", "all but less, and absent"},
		{"not startswith(A,'a')", "A11101a", "a function that is false, also of no string"},
		{"not (A eq 1 and (B or not C))", "false(A111011 true(B11101true C00010true))", "De Morgan"},
	} {
		if got := show(x.filter); got != x.want {
			t.Errorf("%q is %s, want %s: %s", x.filter, got, x.want, x.because)
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		text, _ := randomFilter(r, r.IntN(5))
		f := mustParse(t, text)
		var p edm.Properties
		for _, name := range []string{"A", "B", "C", "D", "E", "F"} {
			if r.IntN(4) != 0 {
				p = edm.AppendProperty(p, name, randomValue(r))
			}
		}
		k := key.Append(nil, randomString(r, false), randomString(r, false))
		// To find the outcome of a comparison, evaluate the comparison with each of the operators lt, eq, gt and ne.
		holds := odata.Fold(f, func(x odata.Test) bool {
			if x.Function != odata.NoFunction {
				return x.Holds&odata.Equal != 0 == mustParse(t, x.Function.String()+"("+x.Name+","+odata.Literal(x.Literal)+")").Match(k, edm.MinDateTime, p)
			}
			outcome := odata.Absent
			for op, o := range map[string]odata.Outcomes{"lt": odata.Less, "eq": odata.Equal, "gt": odata.Greater} {
				if mustParse(t, x.Name+" "+op+" "+odata.Literal(x.Literal)).Match(k, edm.MinDateTime, p) {
					outcome = o
				}
			}
			if ne := mustParse(t, x.Name+" ne "+odata.Literal(x.Literal)); outcome == odata.Absent && ne.Match(k, edm.MinDateTime, p) {
				outcome = odata.Unordered
			}
			return x.Holds&outcome != 0
		}, func(all bool, parts []bool) bool {
			for _, p := range parts {
				if p != all {
					return !all
				}
			}
			return all
		})
		if want := f.Match(k, edm.MinDateTime, p); holds != want {
			t.Fatalf("%q folds to %v of %v, matches: %v", text, holds, p, want)
		}
	}
}
