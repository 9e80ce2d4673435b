package address_test

import (
	"errors"
	"strings"
	"testing"

	"edgetable/core/address"
	"edgetable/core/table"
)

func code(t *testing.T, err error) table.Code {
	t.Helper()
	if err == nil {
		return ""
	}
	var e *table.Error
	if !errors.As(err, &e) {
		t.Fatalf("not an error of the protocol: %v", err)
	}
	return e.Code
}

func TestParseRoute(t *testing.T) {
	t.Parallel()
	entity := func(pk, rk string) address.Route {
		return address.Route{Resource: address.OneEntity, Table: "t", PartitionKey: pk, RowKey: rk}
	}
	nested := func(pk, rk string) address.Route {
		r := entity(pk, rk)
		r.Nested = true
		return r
	}
	for _, tt := range []struct {
		raw  string
		want address.Route
		why  string
	}{
		{"", address.Route{Resource: address.Root}, "no path after the account"},
		{"Tables", address.Route{Resource: address.TableSet}, "the list of tables"},
		{"tables()", address.Route{Resource: address.TableSet}, "in lower case, with parentheses"},
		{"Tables( )", address.Route{Resource: address.TableSet}, "with a blank in parentheses"},
		{"Tables('a')", address.Route{Resource: address.OneTable, Table: "a"}, "one table"},
		{"Tables%28%27a%27%29", address.Route{Resource: address.OneTable, Table: "a"}, "escaped"},
		{"t", address.Route{Resource: address.EntitySet, Table: "t"}, "the entities of a table"},
		{"t()", address.Route{Resource: address.EntitySet, Table: "t"}, "as old clients write it"},
		{"%74", address.Route{Resource: address.EntitySet, Table: "t"}, "an escaped name"},
		{"$batch", address.Route{Resource: address.Batch}, "a batch"},
		{"%24batch", address.Route{Resource: address.Batch}, "with an escaped dollar"},
		{"$metadata", address.Route{Resource: address.Metadata}, "the metadata document"},
		{"t(PartitionKey='p',RowKey='r')", entity("p", "r"), "an entity"},
		{"t(RowKey='r',PartitionKey='p')", entity("p", "r"), "keys in reverse order"},
		{"t( PartitionKey = 'p' , RowKey = 'r' )", entity("p", "r"), "blanks everywhere"},
		{"t(PartitionKey='',RowKey='')", entity("", ""), "empty keys"},
		{"t(PartitionKey='O''B',RowKey='''')", entity("O'B", "'"), "doubled quotes"},
		{"t(PartitionKey='O%27%27B',RowKey='%27%27')", entity("O'B", "'"), "escaped doubled quotes"},
		{"t(PartitionKey='%2525',RowKey='a+b')", entity("%25", "a+b"), "decoded once, and a plus stays a plus"},
		{"t(PartitionKey='a,b',RowKey='(=)')", entity("a,b", "(=)"), "separators in keys"},
		{"t(PartitionKey='%C3%A9',RowKey='é')", entity("é", "é"), "UTF-8, escaped or not"},
		{"t/Tables", address.Route{Resource: address.EntitySet, Table: "t", Nested: true}, "a client whose base URL has a table"},
		{"t/", address.Route{Resource: address.EntitySet, Table: "t"}, "the same with a slash at the end"},
		{"t/$batch", address.Route{Resource: address.EntitySet, Table: "t", Nested: true}, "a batch of such a client"},
		{"t/t", address.Route{Resource: address.EntitySet, Table: "t", Nested: true}, "a client whose base URL has the table that it addresses"},
		{"t%2F%2F", address.Route{Resource: address.EntitySet, Table: "t"}, "escaped slashes after a name"},
		{"a%2Fb", address.Route{Resource: address.EntitySet, Table: "a", Nested: true}, "an escaped slash in a name"},
		{"t/x/y/", address.Route{Resource: address.EntitySet, Table: "t", Nested: true}, "several segments"},
		{"t/x(PartitionKey='p',RowKey='r')", nested("p", "r"), "an entity after two segments"},
		{"t//(PartitionKey='p',RowKey='r')", entity("p", "r"), "slashes after a name"},
		{"t/x(PartitionKey='a(b',RowKey='r')", nested("a(b", "r"), "a parenthesis in a key"},
	} {
		got, err := address.ParseRoute("acct", tt.raw, false)
		if err != nil || got != tt.want {
			t.Errorf("%q (%s): got %+v, %v, want %+v", tt.raw, tt.why, got, err, tt.want)
		}
	}
	for _, tt := range []struct {
		raw, text string
		want      table.Code
		why       string
	}{
		{"t%", "percent", table.InvalidURI, "a percent sign at the end"},
		{"t(PartitionKey='%zz',RowKey='r')", "percent", table.InvalidURI, "no hexadecimal digits"},
		{"t(PartitionKey='p',RowKey='r'", "syntax", table.InvalidInput, "no closing parenthesis"},
		{"t(PartitionKey='p',RowKey='r)", "syntax", table.InvalidInput, "no closing quote"},
		{"t(PartitionKey='p' RowKey='r')", "syntax", table.InvalidInput, "no comma"},
		{"t(PartitionKey='p',)", "syntax", table.InvalidInput, "no key after the comma"},
		{"t(PartitionKey=5,RowKey='r')", "syntax", table.InvalidInput, "a number"},
		{"t(PartitionKey='p',RowKey='r')x", "syntax", table.InvalidInput, "text after the parentheses"},
		{"t(PartitionKey='p',RowKey='a'b')", "syntax", table.InvalidInput, "a quote that is not doubled"},
		{"t(PartitionKey='a%2Fb',RowKey='r')", "syntax", table.InvalidInput, "a slash in a key"},
		{"t(PartitionKey='p',RowKey='a\\b')", "syntax", table.InvalidInput, "a backslash in a key"},
		{"t(PartitionKey='p')", "number of keys", table.InvalidInput, "one key"},
		{"t('p')", "number of keys", table.InvalidInput, "one key without a name"},
		{"t('p','r')", "number of keys", table.InvalidInput, "two keys without names"},
		{"t(PartitionKey='p',PartitionKey='q')", "number of keys", table.InvalidInput, "one key twice"},
		{"t(RowKey='p',RowKey='q')", "number of keys", table.InvalidInput, "the other key twice"},
		{"t(partitionkey='p',RowKey='r')", "number of keys", table.InvalidInput, "names of keys are case-sensitive"},
		{"Tables(PartitionKey='p',RowKey='r')", "number of keys", table.InvalidInput, "keys of an entity for a table"},
		{"Tables/x", "specifed", table.InvalidResourceName, "a segment after Tables"},
		{"$batch/x", "specifed", table.InvalidResourceName, "a segment after $batch"},
		{"//x", "specifed", table.InvalidResourceName, "an empty first segment"},
		{"Tables/x('people')", "specifed", table.InvalidResourceName, "a table after two segments"},
		{"t/x(PartitionKey='p',RowKey='r'", "syntax", table.InvalidInput, "no closing parenthesis after two segments"},
		{"t/x(PartitionKey='p',RowKey='r')/y", "syntax", table.InvalidInput, "a segment after the keys"},
		{"t(PartitionKey='%23',RowKey='r')", "out of range", table.OutOfRangeInput, "a forbidden character"},
		{"t(PartitionKey='%00',RowKey='r')", "out of range", table.OutOfRangeInput, "a control character"},
		{"t(PartitionKey='%ff',RowKey='r')", "Unicode", table.InvalidInput, "not UTF-8"},
		{"t(PartitionKey='" + strings.Repeat("a", 1025) + "',RowKey='r')", "1024", table.PropertyValueTooLarge, "a long key"},
	} {
		got, err := address.ParseRoute("acct", tt.raw, false)
		if code(t, err) != tt.want || got != (address.Route{}) {
			t.Errorf("%.60q (%s): got %+v, %v, want %s", tt.raw, tt.why, got, err, tt.want)
			continue
		}
		if !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%.60q (%s): %q does not say %q", tt.raw, tt.why, err, tt.text)
		}
	}
}
