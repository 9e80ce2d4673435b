package odata_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"edgetable/core/edm"
	"edgetable/core/key"
	"edgetable/core/odata"
)

func TestMakePlan(t *testing.T) {
	t.Parallel()
	// A range is written "start … end". \x00 separates PartitionKey and RowKey. A position that ends in \x01 is after
	// the key without \x01. The position is before all longer keys that begin with this key.
	for _, c := range []struct {
		filter   string
		kind     string
		ranges   []string
		residual string
		why      string
	}{
		{"", "Table", []string{" … "}, "", "no filter"},
		{"true", "Table", []string{" … "}, "", "no condition"},
		{"Age gt 5", "Table", []string{" … "}, "Age gt 5", "no key"},
		{"not (Age gt 5)", "Table", []string{" … "}, "not (Age gt 5)", "nor under not"},
		{"RowKey eq 'r'", "Table", []string{" … "}, "RowKey eq 'r'", "RowKey alone narrows nothing"},
		{"Timestamp gt datetime'2020-01-01'", "Table", []string{" … "}, "Timestamp gt datetime'2020-01-01T00:00:00Z'", "nor does Timestamp"},

		{"PartitionKey eq 'p' and RowKey eq 'r'", "Point", []string{"p\x00r … p\x00r\x01"}, "", "both keys"},
		{"RowKey eq 'r' and PartitionKey eq 'p' and Age gt 5", "Point", []string{"p\x00r … p\x00r\x01"}, "Age gt 5", "in any order"},
		{"PartitionKey eq '' and RowKey eq ''", "Point", []string{"\x00 … \x00\x01"}, "", "both empty"},
		{"PartitionKey ge 'p' and PartitionKey le 'p' and RowKey ge 'r' and RowKey le 'r'", "Point", []string{"p\x00r … p\x00r\x01"}, "", "a range of one"},
		{"PartitionKey eq 'p' and (RowKey eq 's' or RowKey eq 'r')", "Points",
			[]string{"p\x00r … p\x00r\x01", "p\x00s … p\x00s\x01"}, "", "a list of rows, sorted"},
		{"(PartitionKey eq 'q' and RowKey eq 'r') or (PartitionKey eq 'p' and RowKey eq 'r')", "Points",
			[]string{"p\x00r … p\x00r\x01", "q\x00r … q\x00r\x01"}, "", "a list of keys"},
		{"(PartitionKey eq 'p' or PartitionKey eq 'q') and (RowKey eq 'r' or RowKey eq 's') and Age eq 1", "Points",
			[]string{"p\x00r … p\x00r\x01", "p\x00s … p\x00s\x01", "q\x00r … q\x00r\x01", "q\x00s … q\x00s\x01"}, "Age eq 1", "their product"},
		{"PartitionKey eq 'p' and RowKey eq 'r' or PartitionKey eq 'p' and RowKey eq 'r'", "Point", []string{"p\x00r … p\x00r\x01"}, "", "one key twice"},

		{"PartitionKey eq 'p'", "Partition", []string{"p … p\x01"}, "", "a partition"},
		{"PartitionKey eq 'p' and Age gt 5", "Partition", []string{"p … p\x01"}, "Age gt 5", "with a residual"},
		{"PartitionKey eq 'p' and RowKey ge ''", "Partition", []string{"p … p\x01"}, "", "every RowKey is ≥ ''"},
		{"PartitionKey eq 'p' or PartitionKey eq 'q'", "Partition", []string{"p … p\x01", "q … q\x01"}, "", "two"},
		{"PartitionKey eq 'p' or PartitionKey eq 'p' and RowKey eq 'r'", "Partition", []string{"p … p\x01"}, "", "the larger swallows the smaller"},
		{"PartitionKey eq 'p' and (RowKey lt 'm' or RowKey ge 'm')", "Partition", []string{"p … p\x01"}, "", "two halves"},

		{"PartitionKey eq 'p' and RowKey ge 'ab' and RowKey lt 'ac'", "Rows", []string{"p\x00ab … p\x00ac"}, "", "rows by prefix"},
		{"PartitionKey eq 'p' and RowKey gt 'r'", "Rows", []string{"p\x00r\x01 … p\x01"}, "", "to the end of the partition"},
		{"PartitionKey eq 'p' and RowKey le 'r'", "Rows", []string{"p\x00 … p\x00r\x01"}, "", "from its start"},
		{"PartitionKey eq 'p' and RowKey ne 'r'", "Rows", []string{"p\x00 … p\x00r", "p\x00r\x01 … p\x01"}, "", "all but one"},
		{"PartitionKey eq 'p' and not (RowKey ge 'r' or Age lt 5)", "Rows", []string{"p\x00 … p\x00r"}, "not (RowKey ge 'r' or Age lt 5)", "De Morgan; what is mixed stays"},
		{"PartitionKey eq 'p' and (RowKey eq 'r' or RowKey ge 'x' and Age gt 5)", "Rows",
			[]string{"p\x00r … p\x00r\x01", "p\x00x … p\x01"}, "RowKey eq 'r' or RowKey ge 'x' and Age gt 5", "an or that is not only keys"},
		{"PartitionKey eq 'p' and RowKey ge 'a\x02'", "Rows", []string{"p\x00a\x01 … p\x01"}, "", "a bound no key can have"},

		{"PartitionKey ge 'a' and PartitionKey lt 'b'", "Range", []string{"a … b"}, "", "partitions by prefix"},
		{"PartitionKey gt 'a'", "Range", []string{"a\x01 … "}, "", "open"},
		{"not (PartitionKey gt 'a')", "Range", []string{" … a\x01"}, "", "a key is never absent, so not turns the operator"},
		{"PartitionKey ne 'p'", "Range", []string{" … p", "p\x01 … "}, "", "all but one"},
		{"PartitionKey ge 'a' and RowKey ge 'r'", "Range", []string{"a … "}, "RowKey ge 'r'", "RowKey in many partitions stays"},
		{"(PartitionKey eq 'a' or PartitionKey ge 'b') and RowKey eq 'r'", "Range", []string{"a\x00r … a\x00r\x01", "b … "}, "RowKey eq 'r'", "even if it narrows one of them"},
		{"PartitionKey ge 'a' or PartitionKey lt 'b'", "Table", []string{" … "}, "", "ranges that overlap"},
		{"PartitionKey eq 'a' or Age eq 1", "Table", []string{" … "}, "PartitionKey eq 'a' or Age eq 1", "or with no key"},
		{"PartitionKey ge '\uE000'", "Range", []string{"\U0010E000 … "}, "", "keys are encoded"},

		{"startswith(PartitionKey,'a')", "Range", []string{"a … a\xff"}, "", "a prefix"},
		{"startswith(PartitionKey,'\uE000')", "Range", []string{"\U0010E000 … \U0010E000\xff"}, "", "a prefix of an encoded key"},
		{"not startswith(PartitionKey,'a')", "Range", []string{" … a", "a\xff … "}, "", "all others"},
		{"startswith(PartitionKey,'')", "Table", []string{" … "}, "", "all begin with nothing"},
		{"startswith(PartitionKey,'a') eq false and startswith(PartitionKey,'')", "Range", []string{" … a", "a\xff … "}, "", "what is false"},
		{"startswith(PartitionKey,'a/')", "Nothing", nil, "", "no key begins so"},
		{"not startswith(PartitionKey,'a\x01')", "Table", []string{" … "}, "", "so not excludes nothing"},
		{"PartitionKey eq 'p' and startswith(RowKey,'r')", "Rows", []string{"p\x00r … p\x00r\xff"}, "", "rows of a partition"},
		{"PartitionKey eq 'p' and not startswith(RowKey,'r') and Age gt 5", "Rows", []string{"p\x00 … p\x00r", "p\x00r\xff … p\x01"}, "Age gt 5", "and the others"},
		{"startswith(RowKey,'r')", "Table", []string{" … "}, "startswith(RowKey,'r')", "RowKey alone narrows nothing"},
		{"startswith(PartitionKey,'p') and startswith(RowKey,'r')", "Range", []string{"p … p\xff"}, "startswith(RowKey,'r')", "nor in several partitions"},
		{"contains(PartitionKey,'p') or endswith(RowKey,'r')", "Table", []string{" … "}, "contains(PartitionKey,'p') or endswith(RowKey,'r')", "no prefix"},
		{"PartitionKey eq 'p' and contains(RowKey,'r')", "Partition", []string{"p … p\x01"}, "contains(RowKey,'r')", "nor here"},

		{"PartitionKey eq 'a' and PartitionKey eq 'b'", "Nothing", nil, "", "a contradiction"},
		{"PartitionKey eq 'p' and RowKey gt 'r' and RowKey lt 'r'", "Nothing", nil, "", "in rows"},
		{"PartitionKey lt ''", "Nothing", nil, "", "nothing is below the empty key"},
		{"PartitionKey eq 'p' and RowKey lt ''", "Nothing", nil, "", "nor among rows"},
		{"PartitionKey eq 'a/b'", "Nothing", nil, "", "no key has a slash"},
		{"PartitionKey eq 'p' and RowKey eq 'a\tb'", "Nothing", nil, "", "or a control character"},
		{"PartitionKey eq '" + strings.Repeat("a", 1025) + "'", "Nothing", nil, "", "or is so long"},
		{"not (PartitionKey eq 'a/b')", "Table", []string{" … "}, "", "so not excludes nothing"},
		{"false", "Nothing", nil, "", "no entity"},
		{"PartitionKey eq 'p' and (RowKey eq 'a' and RowKey eq 'b' or Age eq 1 and RowKey lt '')", "Nothing", nil, "", "no alternative is possible"},
	} {
		var f *odata.Filter
		if c.filter != "" {
			f = mustParse(t, c.filter)
		}
		p := odata.MakePlan(f)
		ranges := show(p.Ranges)
		if p.Kind != c.kind || !slices.Equal(ranges, c.ranges) || p.Residual.String() != c.residual {
			t.Errorf("%s: plan of %q is\n%s %q residual %q, want\n%s %q residual %q",
				c.why, c.filter, p.Kind, ranges, p.Residual, c.kind, c.ranges, c.residual)
		}
	}
}

func show(ranges []key.Range) (list []string) {
	for _, r := range ranges {
		list = append(list, fmt.Sprintf("%s … %s", r.Start, r.End))
	}
	return list
}

func TestPlanIsBounded(t *testing.T) {
	t.Parallel()
	points := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf("RowKey eq '%03d'", i)
		}
		return "PartitionKey eq 'p' and (" + strings.Join(list, " or ") + ")"
	}
	if p := odata.MakePlan(mustParse(t, points(100))); p.Kind != "Points" || len(p.Ranges) != 100 || p.Residual != nil {
		t.Errorf("100 points: %s of %d ranges, residual %v", p.Kind, len(p.Ranges), p.Residual)
	}
	p := odata.MakePlan(mustParse(t, points(101)))
	if got, want := show(p.Ranges), []string{"p\x00000 … p\x00100\x01"}; p.Kind != "Rows" || !slices.Equal(got, want) || p.Residual == nil {
		t.Errorf("101 points: %s %q, residual %v, want the rows they span and a residual", p.Kind, got, p.Residual)
	}
	// 60 rows in each of 3 partitions would be 180 ranges, which is above the limit. So the residual contains the
	// condition on rows.
	q := mustParse(t, "(PartitionKey eq 'a' or PartitionKey eq 'b' or PartitionKey eq 'c') and ("+
		strings.TrimPrefix(points(60), "PartitionKey eq 'p' and (")) // the prefix that is cut off includes the opening parenthesis
	if p := odata.MakePlan(q); p.Kind != "Partition" || len(p.Ranges) != 3 || p.Residual == nil {
		t.Errorf("180 points: %s of %d ranges, residual %v", p.Kind, len(p.Ranges), p.Residual)
	}
}

// TestRowPositions checks that an encoded position of a RowKey consists of two parts: a prefix for the partition, then
// the RowKey in the encoding of a PartitionKey. The struct box in region.go depends on this encoding.
func TestRowPositions(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "a", "a\x02b", "\x1F", "/", "\x7F", "\uFFFD", "😀", "a\uE000\x00"} {
		prefix := key.RowFrom("p\uE000", "")
		if got, want := key.RowFrom("p\uE000", s), slices.Concat(prefix, key.PartitionFrom(s)); !bytes.Equal(got, want) {
			t.Errorf("RowFrom %q: %q, want %q", s, got, want)
		}
		if got, want := key.RowAfter("p\uE000", s), slices.Concat(prefix, key.PartitionAfter(s)); !bytes.Equal(got, want) {
			t.Errorf("RowAfter %q: %q, want %q", s, got, want)
		}
	}
}

// checkPlan checks that a plan fulfils MakePlan's condition for one entity, and that its ranges are ascending and
// disjoint.
func checkPlan(t *testing.T, f *odata.Filter, k []byte, timestamp edm.Ticks, p edm.Properties) {
	t.Helper()
	plan := odata.MakePlan(f)
	inside := 0
	for i, r := range plan.Ranges {
		if r.Empty() || i > 0 && (plan.Ranges[i-1].End == nil || bytes.Compare(plan.Ranges[i-1].End, r.Start) > 0) {
			t.Errorf("plan of %v: ranges are not ascending: %q", f, show(plan.Ranges))
		}
		if r.Contains(k) {
			inside++
		}
	}
	if planned, want := inside > 0 && plan.Residual.Match(k, timestamp, p), f.Match(k, timestamp, p); planned != want {
		t.Errorf("plan %s %q residual %q of\n%v\nsays %v for key %q, the filter %v", plan.Kind, show(plan.Ranges), plan.Residual, f, planned, k, want)
	}
	if (plan.Kind == "Nothing") != (len(plan.Ranges) == 0) || len(plan.Ranges) > 100 {
		t.Errorf("plan %s of %v has %d ranges", plan.Kind, f, len(plan.Ranges))
	}
}
