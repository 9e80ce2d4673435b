package address_test

import (
	"testing"

	"edgetable/core/address"
	"edgetable/core/table"
)

// shown is the form of options that a test can compare. An absent option has the value "-".
type shown struct{ Filter, Top, Select, Format, Comp, Restype, APIVersion string }

// parse parses the options of a query of entities.
func parse(raw string) (shown, error) {
	o, err := address.ParseOptions(raw)
	if err == nil {
		err = o.CheckImplemented(address.EntitySet, false)
	}
	show := func(s *string) string {
		if s == nil {
			return "-"
		}
		return *s
	}
	return shown{show(o.Filter), show(o.Top), show(o.Select), show(o.Format), o.Comp, o.Restype, o.APIVersion}, err
}

func TestParseOptions(t *testing.T) {
	t.Parallel()
	none := shown{Filter: "-", Top: "-", Select: "-", Format: "-"}
	for _, tt := range []struct {
		raw    string
		change func(*shown)
		why    string
	}{
		{"", func(*shown) {}, "nothing"},
		{"&&=&x", func(*shown) {}, "no options"},
		{"$filter=a+eq+%27b%2Bc%27", func(o *shown) { o.Filter = "a eq 'b+c'" }, "a plus is a blank"},
		{"%24filter=x", func(o *shown) { o.Filter = "x" }, "an escaped name"},
		{"$filter=", func(o *shown) { o.Filter = "" }, "empty is not absent"},
		{"$filter", func(o *shown) { o.Filter = "" }, "a name without a value is not absent"},
		{"$filter=a=b", func(o *shown) { o.Filter = "a=b" }, "the first equals sign separates"},
		{"$top=5&$select=A,B&$format=json", func(o *shown) { o.Top, o.Select, o.Format = "5", "A,B", "json" }, "the others"},
		{"COMP=acl&ResType=service", func(o *shown) { o.Comp, o.Restype = "acl", "service" }, "any case"},
		{"filter=x&Top=5&nextpartitionkey=!", func(*shown) {}, "unknown names"},
		{"timeout=30", func(*shown) {}, "a timeout"},
	} {
		want := none
		tt.change(&want)
		if got, err := parse(tt.raw); err != nil || got != want {
			t.Errorf("%q (%s): got %+v, %v, want %+v", tt.raw, tt.why, got, err, want)
		}
	}
	for _, tt := range []struct {
		raw  string
		want table.Code
	}{
		{"$orderby=A", table.NotImplemented},
		{"$Filter=A", table.NotImplemented},
		{"a=%", table.InvalidQueryParameterValue},
		{"%zz=a", table.InvalidQueryParameterValue},
		{"timeout=", table.InvalidQueryParameterValue},
		{"timeout=-1", table.InvalidQueryParameterValue},
		{"Timeout=1.5", table.InvalidQueryParameterValue},
		{"comp=acl&comp=acl", table.InvalidQueryParameterValue}, // the signed text has only one value of comp, so the query must not have two
		{"comp=&%43omp=acl", table.InvalidQueryParameterValue},
	} {
		if _, err := parse(tt.raw); code(t, err) != tt.want {
			t.Errorf("%q: got %v, want %s", tt.raw, err, tt.want)
		}
	}
	if o, _ := parse("sv=1&API-version=2019-02-02"); o.APIVersion != "2019-02-02" {
		t.Errorf("api-version is %q", o.APIVersion)
	}
}
