package protocol_test

import (
	"strings"
	"testing"

	"edgetable/core/protocol"
	"edgetable/core/sas"
	"edgetable/core/sharedkey"
	"edgetable/core/wiretest"
)

// TestLettersOfAccountTokens checks which resource types and permissions of an account SAS each operation needs. The
// expected values come from the service's documentation.
func TestLettersOfAccountTokens(t *testing.T) {
	t.Parallel()
	key, err := sharedkey.ParseKey(wiretest.AccountKey)
	if err != nil {
		t.Fatal(err)
	}
	const all = "rwdlacu"
	star := protocol.Header{"If-Match": {"*"}}
	batch := protocol.Header{"Content-Type": {"multipart/mixed; boundary=b"}}
	tested := make(map[string]bool)
	for _, tt := range []struct {
		sent
		types   string // the required resource types, as in the parameter srt
		letters string // the required permissions, as in the parameter sp
		or      string // an alternative permission that also permits the operation, or ""
	}{
		{sent{why: "list", method: "GET", path: "/Tables"}, "c", "l", ""},
		{sent{why: "schema", method: "GET", path: "/$metadata"}, "c", "l", ""},
		{sent{why: "one table", method: "GET", path: "/Tables('people')"}, "c", "l", ""},
		{sent{why: "create", method: "POST", path: "/Tables", body: `{"TableName":"new"}`}, "c", "c", "w"},
		{sent{why: "drop", method: "DELETE", path: "/Tables('people')"}, "c", "d", ""},
		{sent{why: "drop through a tunnel", method: "POST", path: "/Tables('people')", header: protocol.Header{"X-Http-Method": {"DELETE"}}}, "c", "d", ""},
		{sent{why: "query", method: "GET", path: "/people()"}, "o", "r", ""},
		{sent{why: "count", method: "GET", path: "/people()/$count"}, "o", "r", ""},
		{sent{why: "point", method: "GET", path: "/people(PartitionKey='m',RowKey='r')"}, "o", "r", ""},
		{sent{why: "insert", method: "POST", path: "/people", body: `{"PartitionKey":"m","RowKey":"new"}`}, "o", "a", ""},
		{sent{why: "upsert", method: "PUT", path: "/people(PartitionKey='m',RowKey='r')", body: `{}`}, "o", "au", ""},
		{sent{why: "upsert by an empty condition", method: "PUT", path: "/people(PartitionKey='m',RowKey='r')", header: protocol.Header{"If-Match": {""}}, body: `{}`}, "o", "au", ""},
		{sent{why: "merge or insert", method: "PATCH", path: "/people(PartitionKey='m',RowKey='r')", body: `{}`}, "o", "au", ""},
		{sent{why: "update", method: "PUT", path: "/people(PartitionKey='m',RowKey='r')", header: star, body: `{}`}, "o", "u", ""},
		{sent{why: "merge", method: "MERGE", path: "/people(PartitionKey='m',RowKey='r')", header: star, body: `{}`}, "o", "u", ""},
		{sent{why: "delete", method: "DELETE", path: "/people(PartitionKey='m',RowKey='r')", header: star}, "o", "d", ""},
		{sent{why: "query in a batch", method: "POST", path: "/$batch", header: batch, body: batchQuery("GET /people()")}, "o", "r", ""},
		{sent{why: "delete in a batch", method: "POST", path: "/$batch", header: batch, body: changeset("DELETE /people(PartitionKey='m',RowKey='r')\nIf-Match: *\r\n\r\n")}, "o", "d", ""},
		{sent{why: "update and delete in a batch", method: "POST", path: "/$batch", header: batch, body: changeset("MERGE /people(PartitionKey='m',RowKey='r')\nIf-Match: *\r\n\r\n{}", "DELETE /people(PartitionKey='m',RowKey='s')\nIf-Match: *\r\n\r\n")}, "o", "ud", ""},
		{sent{why: "settings", method: "GET", path: "/", query: "restype=service&comp=properties"}, "s", "r", ""},
		{sent{why: "other settings", method: "PUT", path: "/", query: "restype=service&comp=properties", body: `<StorageServiceProperties><Cors /></StorageServiceProperties>`}, "s", "w", ""},
		{sent{why: "the state of the secondary", method: "GET", path: "http://127.0.0.1/" + wiretest.Account + "-secondary/", query: "restype=service&comp=stats"}, "s", "r", ""},
		{sent{why: "policies", method: "GET", path: "/people", query: "comp=acl"}, "", "", ""},
		{sent{why: "other policies", method: "PUT", path: "/people", query: "comp=acl", body: `<SignedIdentifiers />`}, "", "", ""},
		{sent{why: "options", method: "GET", path: "/people", query: "comp=options"}, "", "", ""},
		{sent{why: "other options", method: "PUT", path: "/people", query: "comp=options", body: `{}`}, "", "", ""},
		{sent{why: "changes", method: "GET", path: "/people", query: "comp=changes"}, "o", "r", ""},
		{sent{why: "statistics", method: "GET", path: "/people", query: "comp=traffic"}, "", "", ""},
		{sent{why: "an earlier state", method: "POST", path: "/people", query: "comp=restore&time=2026-11-23T14:03:07Z"}, "", "", ""},
		{sent{why: "delegation key", method: "POST", path: "/", query: "restype=service&comp=userdelegationkey", body: `<KeyInfo><Expiry>2026-03-05</Expiry></KeyInfo>`}, "", "", ""},
	} {
		without := func(s, letters string) string {
			return strings.Map(func(r rune) rune {
				if strings.ContainsRune(letters, r) {
					return -1
				}
				return r
			}, s)
		}
		type grant struct {
			types, letters string
			want           bool
		}
		list := []grant{
			{"sco", all, tt.types != ""},
			{tt.types, tt.letters, tt.types != ""},
			{without("sco", tt.types), all, false},
		}
		for _, l := range tt.letters {
			list = append(list, grant{"sco", without(all, string(l)+tt.or), false})
		}
		if tt.or != "" {
			list = append(list, grant{"sco", tt.or, true})
		}
		for _, g := range list {
			if g.types == "" || g.letters == "" {
				continue // an account SAS must have both resource types and permissions
			}
			h, _ := newSecretServer(t)
			token, err := sas.AccountValues{ResourceTypes: g.types, Permissions: g.letters, Expiry: "2030-01-01"}.Sign(wiretest.Account, key)
			if err != nil {
				t.Fatal(err)
			}
			resp := h.Serve(t.Context(), tt.withToken(token))
			tested[resp.Operation] = true
			if done := resp.Status < 300 && resp.Code == ""; done != g.want || !done && !strings.HasPrefix(resp.Code, "Authorization") {
				t.Errorf("%s with srt=%s sp=%s: %d %s: %s", tt.why, g.types, g.letters, resp.Status, resp.Code, resp.Body)
			}
			resp.Release()
		}
	}
	for _, name := range protocol.Operations() {
		if !tested[name] {
			t.Errorf("no request for %s", name)
		}
	}
}
