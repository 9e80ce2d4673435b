package protocol_test

import (
	"errors"
	"strings"
	"testing"

	"edgetable/core/protocol"
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
	entity := func(pk, rk string) protocol.Route {
		return protocol.Route{Resource: "entity", Table: "t", PartitionKey: pk, RowKey: rk}
	}
	for _, tt := range []struct {
		raw  string
		want protocol.Route
		why  string
	}{
		{"", protocol.Route{Resource: "root"}, "no path after the account"},
		{"Tables", protocol.Route{Resource: "tables"}, "the list of tables"},
		{"tables()", protocol.Route{Resource: "tables"}, "in lower case, with parentheses"},
		{"Tables( )", protocol.Route{Resource: "tables"}, "with a blank in parentheses"},
		{"Tables('a')", protocol.Route{Resource: "table", Table: "a"}, "one table"},
		{"Tables%28%27a%27%29", protocol.Route{Resource: "table", Table: "a"}, "escaped"},
		{"t", protocol.Route{Resource: "entities", Table: "t"}, "the entities of a table"},
		{"t()", protocol.Route{Resource: "entities", Table: "t"}, "as old clients write it"},
		{"%74", protocol.Route{Resource: "entities", Table: "t"}, "an escaped name"},
		{"$batch", protocol.Route{Resource: "batch"}, "a batch"},
		{"%24batch", protocol.Route{Resource: "batch"}, "with an escaped dollar"},
		{"$metadata", protocol.Route{Resource: "metadata"}, "the metadata document"},
		{"t(PartitionKey='p',RowKey='r')", entity("p", "r"), "an entity"},
		{"t(RowKey='r',PartitionKey='p')", entity("p", "r"), "keys in reverse order"},
		{"t( PartitionKey = 'p' , RowKey = 'r' )", entity("p", "r"), "blanks everywhere"},
		{"t(PartitionKey='',RowKey='')", entity("", ""), "empty keys"},
		{"t(PartitionKey='O''B',RowKey='''')", entity("O'B", "'"), "doubled quotes"},
		{"t(PartitionKey='O%27%27B',RowKey='%27%27')", entity("O'B", "'"), "escaped doubled quotes"},
		{"t(PartitionKey='%2525',RowKey='a+b')", entity("%25", "a+b"), "decoded once, and a plus stays a plus"},
		{"t(PartitionKey='a,b',RowKey='(=)')", entity("a,b", "(=)"), "separators in keys"},
		{"t(PartitionKey='%C3%A9',RowKey='é')", entity("é", "é"), "UTF-8, escaped or not"},
		{"t/Tables", protocol.Route{Resource: "entities", Table: "t"}, "a client whose base URL has a table"},
		{"t/", protocol.Route{Resource: "entities", Table: "t"}, "the same with a slash at the end"},
		{"t/$batch", protocol.Route{Resource: "entities", Table: "t"}, "a batch of such a client"},
	} {
		got, err := protocol.ParseRoute(tt.raw)
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
		{"a%2Fb", "specifed", table.InvalidResourceName, "a slash in a name"},
		{"t/x", "specifed", table.InvalidResourceName, "a path of two segments"},
		{"a//(PartitionKey='p',RowKey='r')", "specifed", table.InvalidResourceName, "slashes after a name"},
		{"t(PartitionKey='%23',RowKey='r')", "out of range", table.OutOfRangeInput, "a forbidden character"},
		{"t(PartitionKey='%00',RowKey='r')", "out of range", table.OutOfRangeInput, "a control character"},
		{"t(PartitionKey='%ff',RowKey='r')", "Unicode", table.InvalidInput, "not UTF-8"},
		{"t(PartitionKey='" + strings.Repeat("a", 1025) + "',RowKey='r')", "1024", table.PropertyValueTooLarge, "a long key"},
	} {
		got, err := protocol.ParseRoute(tt.raw)
		if code(t, err) != tt.want || got != (protocol.Route{}) {
			t.Errorf("%.60q (%s): got %+v, %v, want %s", tt.raw, tt.why, got, err, tt.want)
			continue
		}
		if !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%.60q (%s): %q does not say %q", tt.raw, tt.why, err, tt.text)
		}
	}
}

func TestLocate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		target, host string
		pathStyle    bool
		want         protocol.Address
		why          string
	}{
		{"/acct/Tables?x=y", "127.0.0.1:10002", false, protocol.Address{"/acct/Tables", "x=y", "", "acct", false, "/acct", "Tables"}, "an IP address"},
		{"/acct/Tables", "localhost", false, protocol.Address{"/acct/Tables", "", "", "acct", false, "/acct", "Tables"}, "localhost"},
		{"/acct", "host", false, protocol.Address{"/acct", "", "", "acct", false, "/acct", ""}, "the account alone"},
		{"/acct-secondary/t", "host", false, protocol.Address{"/acct-secondary/t", "", "", "acct", true, "/acct-secondary", "t"}, "the secondary"},
		{"//acct//t/", "host", false, protocol.Address{"//acct//t/", "", "", "acct", false, "/acct", "t/"}, "extra slashes stay in the signed path only"},
		{"/a%63ct/t", "host", false, protocol.Address{"/a%63ct/t", "", "", "acct", false, "/a%63ct", "t"}, "an escaped account stays escaped in URIs"},
		{"/Tables", "acct.table.core.windows.net", false, protocol.Address{"/Tables", "", "", "acct", false, "", "Tables"}, "the service's own hosts"},
		{"/Tables", "ACCT.Table.localhost:10002", false, protocol.Address{"/Tables", "", "", "acct", false, "", "Tables"}, "host names ignore case"},
		{"/t", "acct-secondary.table.localhost", false, protocol.Address{"/t", "", "", "acct", true, "", "t"}, "a secondary by its host"},
		{"/acct/t", "acct.table.localhost", true, protocol.Address{"/acct/t", "", "", "acct", false, "/acct", "t"}, "forced path style"},
		{"/acct/t", "tables.example.com", false, protocol.Address{"/acct/t", "", "", "acct", false, "/acct", "t"}, "a host that only resembles an account host"},
		{"http://h:1/acct/t?q", "other", false, protocol.Address{"/acct/t", "q", "h:1", "acct", false, "/acct", "t"}, "an absolute URI"},
		{"HTTPS://acct.table.x/t", "other", false, protocol.Address{"/t", "", "acct.table.x", "acct", false, "", "t"}, "the host of an absolute URI takes precedence"},
		{"http://acct.table.x", "other", false, protocol.Address{"/", "", "acct.table.x", "acct", false, "", ""}, "an absolute URI without a path"},
		{"acct/t", "h", false, protocol.Address{"/acct/t", "", "", "acct", false, "/acct", "t"}, "a relative target, in a batch"},
		{"acct(PartitionKey='x://y',RowKey='')", "acct.table.x", false, protocol.Address{"/acct(PartitionKey='x://y',RowKey='')", "", "", "acct", false, "", "acct(PartitionKey='x://y',RowKey='')"}, "a key is no scheme"},
	} {
		got, ok := protocol.Locate(tt.target, tt.host, tt.pathStyle)
		if !ok || got != tt.want {
			t.Errorf("%s at %s (%s):\n got %+v, %t\nwant %+v", tt.target, tt.host, tt.why, got, ok, tt.want)
		}
	}
	for _, tt := range []struct{ target, host, why string }{
		{"/", "localhost", "no account"},
		{"///", "localhost", "only slashes"},
		{"/-secondary/t", "localhost", "a secondary without an account"},
		{"/a%zz/t", "localhost", "a broken escape"},
		{"/t", ".table.x", "an empty label"},
		{"", "localhost", "no target"},
	} {
		if got, ok := protocol.Locate(tt.target, tt.host, false); ok {
			t.Errorf("%s at %s (%s): %+v", tt.target, tt.host, tt.why, got)
		}
	}
}
