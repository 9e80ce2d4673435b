package address_test

import (
	"testing"

	"edgetable/core/address"
)

// located holds the expected results of Parse and Locate for one target.
type located struct {
	Path, Query, Host string
	Account           string
	Secondary         bool
	Base, Rest        string
}

func locate(target, host string, pathStyle bool) (located, bool) {
	t := address.Parse(target)
	a, ok := t.Locate(host, pathStyle)
	return located{t.Path, t.Query, t.Host, a.Account, a.Secondary, a.Base, a.Rest}, ok
}

func TestLocate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		target, host string
		pathStyle    bool
		want         located
		why          string
	}{
		{"/acct/Tables?x=y", "127.0.0.1:10002", false, located{"/acct/Tables", "x=y", "", "acct", false, "/acct", "Tables"}, "an IP address"},
		{"/acct/Tables", "localhost", false, located{"/acct/Tables", "", "", "acct", false, "/acct", "Tables"}, "localhost"},
		{"/acct", "host", false, located{"/acct", "", "", "acct", false, "/acct", ""}, "the account alone"},
		{"/acct-secondary/t", "host", false, located{"/acct-secondary/t", "", "", "acct", true, "/acct-secondary", "t"}, "the secondary"},
		{"//acct//t/", "host", false, located{"//acct//t/", "", "", "acct", false, "/acct", "t/"}, "extra slashes stay in the signed path only"},
		{"/a%63ct/t", "host", false, located{"/a%63ct/t", "", "", "acct", false, "/a%63ct", "t"}, "an escaped account stays escaped in URIs"},
		{"/Tables", "acct.table.core.windows.net", false, located{"/Tables", "", "", "acct", false, "", "Tables"}, "the service's own hosts"},
		{"/Tables", "ACCT.Table.localhost:10002", false, located{"/Tables", "", "", "acct", false, "", "Tables"}, "host names ignore case"},
		{"/t", "acct-secondary.table.localhost", false, located{"/t", "", "", "acct", true, "", "t"}, "a secondary by its host"},
		{"/acct/t", "acct.table.localhost", true, located{"/acct/t", "", "", "acct", false, "/acct", "t"}, "forced path style"},
		{"/acct/t", "tables.example.com", false, located{"/acct/t", "", "", "acct", false, "/acct", "t"}, "a host that only resembles an account host"},
		{"http://h:1/acct/t?q", "other", false, located{"/acct/t", "q", "h:1", "acct", false, "/acct", "t"}, "an absolute URI"},
		{"HTTPS://acct.table.x/t", "other", false, located{"/t", "", "acct.table.x", "acct", false, "", "t"}, "the host of an absolute URI takes precedence"},
		{"http://acct.table.x", "other", false, located{"/", "", "acct.table.x", "acct", false, "", ""}, "an absolute URI without a path"},
		{"acct/t", "h", false, located{"/acct/t", "", "", "acct", false, "/acct", "t"}, "a relative target, in a batch"},
		{"acct(PartitionKey='x://y',RowKey='')", "acct.table.x", false, located{"/acct(PartitionKey='x://y',RowKey='')", "", "", "acct", false, "", "acct(PartitionKey='x://y',RowKey='')"}, "a key is no scheme"},
	} {
		got, ok := locate(tt.target, tt.host, tt.pathStyle)
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
		if got, ok := locate(tt.target, tt.host, false); ok {
			t.Errorf("%s at %s (%s): %+v", tt.target, tt.host, tt.why, got)
		}
	}
}
