package protocol_test

import (
	"testing"

	"edgetable/core/protocol"
	"edgetable/core/table"
)

func TestParseOptions(t *testing.T) {
	t.Parallel()
	none := protocol.Options{Filter: "-", Top: "-", Select: "-", Format: "-"}
	for _, tt := range []struct {
		raw    string
		change func(*protocol.Options)
		why    string
	}{
		{"", func(*protocol.Options) {}, "nothing"},
		{"&&=&x", func(*protocol.Options) {}, "no options"},
		{"$filter=a+eq+%27b%2Bc%27", func(o *protocol.Options) { o.Filter = "a eq 'b+c'" }, "a plus is a blank"},
		{"%24filter=x", func(o *protocol.Options) { o.Filter = "x" }, "an escaped name"},
		{"$filter=", func(o *protocol.Options) { o.Filter = "" }, "empty is not absent"},
		{"$filter", func(o *protocol.Options) { o.Filter = "" }, "a name without a value is not absent"},
		{"$filter=a=b", func(o *protocol.Options) { o.Filter = "a=b" }, "the first equals sign separates"},
		{"$top=5&$select=A,B&$format=json", func(o *protocol.Options) { o.Top, o.Select, o.Format = "5", "A,B", "json" }, "the others"},
		{"COMP=acl&ResType=service", func(o *protocol.Options) { o.Comp, o.Restype = "acl", "service" }, "any case"},
		{"filter=x&Top=5&nextpartitionkey=!", func(*protocol.Options) {}, "unknown names"},
		{"timeout=30", func(*protocol.Options) {}, "a timeout"},
	} {
		want := none
		tt.change(&want)
		if got, err := protocol.ParseOptions(tt.raw); err != nil || got != want {
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
		{"comp=acl&comp=acl", table.InvalidQueryParameterValue}, // the signed string has only one value of comp, so two values are refused
		{"comp=&%43omp=acl", table.InvalidQueryParameterValue},
	} {
		if _, err := protocol.ParseOptions(tt.raw); code(t, err) != tt.want {
			t.Errorf("%q: got %v, want %s", tt.raw, err, tt.want)
		}
	}
	if o, _ := protocol.ParseOptions("sv=1&API-version=2019-02-02"); o.APIVersion != "2019-02-02" {
		t.Errorf("api-version is %q", o.APIVersion)
	}
}
