package protocol_test

import (
	"bytes"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"edgetable/core/continuation"
	"edgetable/core/protocol"
	"edgetable/core/sas"
	"edgetable/core/sharedkey"
	"edgetable/core/wiretest"
)

// sent holds a request without its credentials. A test adds a token and sends the request.
type sent struct {
	why, method, path, query string
	header                   protocol.Header
	body                     string
}

// withToken returns the complete request. Its only credentials are the token.
func (r *sent) withToken(token string) *protocol.Request {
	target := r.path
	if !strings.HasPrefix(target, "http") {
		target = "/" + wiretest.Account + target
	}
	target += "?" + strings.Trim(token+"&"+r.query, "&")
	h := protocol.Header{"X-Ms-Version": {"2025-07-05"}, "Accept": {"application/json"}, "Content-Type": {"application/json"}, "Content-Length": {strconv.Itoa(len(r.body))}}
	for name, values := range r.header {
		h[name] = values
	}
	return &protocol.Request{
		Method: r.method, Target: target, Host: "127.0.0.1:10002", Scheme: "http", Header: h,
		Body: strings.NewReader(r.body), ContentLength: int64(len(r.body)),
	}
}

// readSecrets returns all data that the token must not reveal: the tables, their access policies, the
// settings of the account, and all entities outside the partition m.
func readSecrets(t *testing.T, h *protocol.Handler, key *sharedkey.Key) string {
	t.Helper()
	s := &server{Handler: h, key: key}
	var all strings.Builder
	for _, path := range []string{"/Tables", "/other()", "/people()?$filter=PartitionKey%20ne%20'm'", "/people?comp=acl", "/other?comp=acl", "/?restype=service&comp=properties"} {
		req := s.request("GET", path, "", nil)
		req.Header.(protocol.Header)["Accept"] = []string{"application/json;odata=nometadata"}
		resp := h.Serve(t.Context(), req)
		if resp.Status != 200 {
			t.Fatalf("%s: %d: %s", path, resp.Status, resp.Body)
		}
		all.Write(resp.Body)
		resp.Release()
	}
	return all.String()
}

// newSecretServer returns a server whose account has the tables "people" and "other". Tests use tokens for
// the partition "m" of the table "people". All other data is secret.
func newSecretServer(t *testing.T) (*protocol.Handler, *sharedkey.Key) {
	t.Helper()
	h := wiretest.NewHandler(&wiretest.Clock{})
	h.Extensions = true
	key, err := sharedkey.ParseKey(wiretest.AccountKey)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{Handler: h, key: key}
	do := func(method, path, body string) {
		t.Helper()
		resp := h.Serve(t.Context(), s.request(method, path, "application/json", []byte(body)))
		if resp.Status >= 300 {
			t.Fatalf("%s %s: %d: %s", method, path, resp.Status, resp.Body)
		}
		resp.Release()
	}
	do("POST", "/Tables", `{"TableName":"people"}`)
	do("POST", "/Tables", `{"TableName":"other"}`)
	do("PUT", "/people?comp=options", `{"changes":{}}`)
	do("PUT", "/other?comp=options", `{"changes":{}}`)
	for _, p := range []string{"a", "lz", "mm", "z"} {
		do("POST", "/people", `{"PartitionKey":"`+p+`","RowKey":"r","A":"secret"}`)
	}
	do("POST", "/people", `{"PartitionKey":"m","RowKey":"r","A":"open"}`)
	do("POST", "/people", `{"PartitionKey":"m","RowKey":"s","A":"open"}`)
	do("POST", "/other", `{"PartitionKey":"m","RowKey":"r","A":"secret"}`)
	do("PUT", "/people?comp=acl", `<SignedIdentifiers><SignedIdentifier><Id>secret</Id><AccessPolicy><Expiry>2030-01-01</Expiry><Permission>raud</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>`)
	do("PUT", "/other?comp=acl", `<SignedIdentifiers><SignedIdentifier><Id>secret</Id></SignedIdentifier></SignedIdentifiers>`)
	do("PUT", "/?restype=service&comp=properties", `<StorageServiceProperties><Cors><CorsRule><AllowedMethods>GET</AllowedMethods><AllowedOrigins>https://secret</AllowedOrigins><AllowedHeaders/><ExposedHeaders/><MaxAgeInSeconds>1</MaxAgeInSeconds></CorsRule></Cors></StorageServiceProperties>`)
	return h, key
}

// changeset returns a batch with one changeset. Each argument has the request line of an operation and the
// rest of the operation after that line.
func changeset(parts ...string) string {
	var b strings.Builder
	b.WriteString("--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n")
	for _, p := range parts {
		line, rest, _ := strings.Cut(p, "\n")
		fmt.Fprintf(&b, "--c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n%s HTTP/1.1\r\nContent-Type: application/json\r\n%s\r\n", line, rest)
	}
	b.WriteString("--c--\r\n--b--\r\n")
	return b.String()
}

func batchQuery(line string) string {
	return "--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n" + line + " HTTP/1.1\r\n\r\n\r\n--b--\r\n"
}

// forbiddenRequests returns requests for data outside the partition "m" of the table "people". A token for
// this partition must not reach that data, whatever its permissions are.
func forbiddenRequests() []sent {
	batch := protocol.Header{"Content-Type": {"multipart/mixed; boundary=b"}}
	tunnel := func(verb string) protocol.Header { return protocol.Header{"X-Http-Method": {verb}, "If-Match": {"*"}} }
	star := protocol.Header{"If-Match": {"*"}}
	xml := protocol.Header{"Content-Type": {"application/xml"}}
	const evil = `{"PartitionKey":"z","RowKey":"evil"}`
	const nothing = `<SignedIdentifiers />`
	token := func(s string) string { return continuation.Token([]byte(s)) }
	list := []sent{
		{why: "another table", method: "GET", path: "/other()"},
		{why: "in upper case", method: "GET", path: "/OTHER"},
		{why: "in escapes", method: "GET", path: "/%6Fther"},
		{why: "behind slashes", method: "GET", path: "//other()"},
		{why: "behind escaped slashes", method: "GET", path: "/people%2F..%2Fother"},
		{why: "behind dots", method: "GET", path: "/people/../other"},
		{why: "with a path behind it", method: "GET", path: "/other/Tables"},
		{why: "by an absolute URI", method: "GET", path: "http://127.0.0.1/" + wiretest.Account + "/other()"},
		{why: "by the name of a host", method: "GET", path: "http://" + wiretest.Account + ".table.localhost/other()"},
		{why: "of the secondary", method: "GET", path: "http://127.0.0.1/" + wiretest.Account + "-secondary/other()"},
		{why: "of another account with the same key", method: "GET", path: "http://127.0.0.1/secondaccount/people()"},
		{why: "with another tn", method: "GET", path: "/other()", query: "tn=other"},
		{why: "with another tn in escapes", method: "GET", path: "/other()", query: "%74N=other"},
		{why: "an entity of another table", method: "GET", path: "/other(PartitionKey='m',RowKey='r')"},
		{why: "with an unsigned header", method: "GET", path: "/other()", header: protocol.Header{"Authorization": {""}}},
		{why: "with two headers", method: "GET", path: "/other()", header: protocol.Header{"Authorization": {"", "SharedKey a:b"}}},
		{why: "with a header of another kind", method: "GET", path: "/other()", header: protocol.Header{"Authorization": {"Bearer "}}},
		{why: "with a header that has no signature", method: "GET", path: "/other()", header: protocol.Header{"Authorization": {"SharedKey " + wiretest.Account + ":"}, "X-Ms-Date": {sharedkey.FormatDate(wiretest.Start)}}},

		{why: "the tables", method: "GET", path: "/Tables"},
		{why: "the tables in lower case", method: "GET", path: "/tables()"},
		{why: "the tables behind the table", method: "GET", path: "/Tables/people"},
		{why: "the table as a table", method: "GET", path: "/Tables('people')"},
		{why: "the head of the table", method: "HEAD", path: "/Tables('people')"},
		{why: "a delete of the table", method: "DELETE", path: "/Tables('people')"},
		{why: "a delete of the table through a tunnel", method: "POST", path: "/Tables('people')", header: tunnel("DELETE")},
		{why: "a new table", method: "POST", path: "/Tables", body: `{"TableName":"evil"}`},
		{why: "the schema", method: "GET", path: "/$metadata"},
		{why: "the schema in escapes", method: "GET", path: "/%24metadata"},

		{why: "all changes", method: "GET", path: "/people", query: "comp=changes&since=start"},
		{why: "changes of another table", method: "GET", path: "/other", query: "comp=changes&since=start"},
		{why: "the policies", method: "GET", path: "/people", query: "comp=acl"},
		{why: "the head of the policies", method: "HEAD", path: "/people", query: "comp=acl"},
		{why: "the policies by an escaped name", method: "GET", path: "/people", query: "%63omp=acl"},
		{why: "the policies behind an empty comp", method: "GET", path: "/people", query: "comp=&comp=acl"},
		{why: "other policies", method: "PUT", path: "/people", query: "comp=acl", header: xml, body: nothing},
		{why: "other policies by an old version", method: "PUT", path: "/people", query: "comp=acl&api-version=2009-09-19", header: xml, body: nothing},
		{why: "the settings", method: "GET", path: "/", query: "restype=service&comp=properties"},
		{why: "the settings of the table", method: "GET", path: "/people", query: "restype=service&comp=properties"},
		{why: "other settings", method: "PUT", path: "/", query: "restype=service&comp=properties", header: xml, body: `<StorageServiceProperties><Cors /></StorageServiceProperties>`},
		{why: "the state of the secondary", method: "GET", path: "http://127.0.0.1/" + wiretest.Account + "-secondary/", query: "restype=service&comp=stats"},
		{why: "a delegation key", method: "POST", path: "/", query: "restype=service&comp=userdelegationkey", header: xml, body: `<KeyInfo><Expiry>2026-03-05</Expiry></KeyInfo>`},

		{why: "a filter for another partition", method: "GET", path: "/people()", query: "$filter=PartitionKey%20eq%20'a'"},
		{why: "a filter for all others", method: "GET", path: "/people()", query: "$filter=not%20(PartitionKey%20eq%20'm')"},
		{why: "a position before", method: "GET", path: "/people()", query: "NextPartitionKey=" + token("a")},
		{why: "a position behind", method: "GET", path: "/people()", query: "NextPartitionKey=" + token("z")},
		{why: "a position in the next partition", method: "GET", path: "/people()", query: "NextPartitionKey=" + token("mm") + "&NextRowKey=" + token("r")},
		{why: "a position of bytes", method: "GET", path: "/people()", query: "NextPartitionKey=" + token("\x00") + "&NextRowKey=" + token("\xff")},
		{why: "all, page by page", method: "GET", path: "/people()", query: "$top=2"},
		{why: "all, in XML", method: "GET", path: "/people()", query: "$format=atom&api-version=2013-08-15"},
		{why: "the schema of all", method: "GET", path: "/people()", query: "$select=A&$top=1000"},
		{why: "a point", method: "GET", path: "/people(PartitionKey='z',RowKey='r')"},
		{why: "a point with its keys in reverse order and escaped", method: "GET", path: "/people(RowKey='r',%20PartitionKey='%7A')"},
		{why: "a point of the secondary", method: "GET", path: "http://127.0.0.1/" + wiretest.Account + "-secondary/people(PartitionKey='z',RowKey='r')"},
		{why: "a new entity", method: "POST", path: "/people", body: evil},
		{why: "a new entity by names in escapes", method: "POST", path: "/people()", body: `{"PartitionKey":"m","RowKey":"x","Partition\u004bey":"z"}`},
		{why: "a new entity in XML", method: "POST", path: "/people", query: "api-version=2013-08-15", header: protocol.Header{"Content-Type": {"application/atom+xml"}},
			body: `<entry xmlns="http://www.w3.org/2005/Atom" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices"><content><m:properties><d:PartitionKey>z</d:PartitionKey><d:RowKey>x</d:RowKey></m:properties></content></entry>`},
		{why: "an upsert", method: "PUT", path: "/people(PartitionKey='z',RowKey='r')", body: `{}`},
		{why: "an upsert with other keys in its body", method: "PUT", path: "/people(PartitionKey='z',RowKey='r')", body: `{"PartitionKey":"m","RowKey":"r"}`},
		{why: "a merge", method: "MERGE", path: "/people(PartitionKey='z',RowKey='r')", body: `{"A":"evil"}`},
		{why: "an update", method: "PUT", path: "/people(PartitionKey='z',RowKey='r')", header: star, body: `{}`},
		{why: "a merge through a tunnel", method: "POST", path: "/people(PartitionKey='z',RowKey='r')", header: tunnel("MERGE"), body: `{"A":"evil"}`},
		{why: "a delete through a tunnel", method: "POST", path: "/people(PartitionKey='z',RowKey='r')", header: tunnel("delete")},
		{why: "a delete", method: "DELETE", path: "/people(PartitionKey='z',RowKey='r')", header: star},
	}
	for why, body := range map[string]string{
		"another table":                 changeset("POST /" + wiretest.Account + "/other\n\r\n" + evil),
		"another table second":          changeset("POST /"+wiretest.Account+"/people\n\r\n"+`{"PartitionKey":"m","RowKey":"new"}`, "POST /"+wiretest.Account+"/other\n\r\n"+`{"PartitionKey":"m","RowKey":"evil"}`),
		"another table with its own tn": changeset("POST /" + wiretest.Account + "/other?tn=other&sig=x\n\r\n" + evil),
		"by a host of another account":  changeset("POST http://secondaccount.table.localhost/other\n\r\n" + evil),
		"without the account":           changeset("POST /other\n\r\n" + evil),
		"outside":                       changeset("POST /" + wiretest.Account + "/people\n\r\n" + evil),
		"outside by URL":                changeset("PUT /" + wiretest.Account + "/people(PartitionKey='z',RowKey='r')\n\r\n{}"),
		"a delete":                      changeset("DELETE /" + wiretest.Account + "/people(PartitionKey='z',RowKey='r')\nIf-Match: *\r\n\r\n"),
		"a delete through a tunnel":     changeset("POST /" + wiretest.Account + "/people(PartitionKey='z',RowKey='r')\nX-HTTP-Method: DELETE\r\nIf-Match: *\r\n\r\n"),
		"a new table":                   changeset("POST /" + wiretest.Account + "/Tables\n\r\n" + `{"TableName":"evil"}`),
		"a delete of a table":           changeset("DELETE /" + wiretest.Account + "/Tables('other')\n\r\n"),
		"policies":                      changeset("PUT /" + wiretest.Account + "/people?comp=acl\n\r\n" + nothing),
		"a header of its own":           changeset("POST /" + wiretest.Account + "/other\nAuthorization: SharedKey a:b\r\n\r\n" + evil),
		"a query of another table":      batchQuery("GET /" + wiretest.Account + "/other()"),
		"a query outside":               batchQuery("GET /" + wiretest.Account + "/people()?$filter=PartitionKey%20ne%20'm'"),
		"a query from a position":       batchQuery("GET /" + wiretest.Account + "/people()?NextPartitionKey=" + token("z")),
		"a point outside":               batchQuery("GET /" + wiretest.Account + "/people(PartitionKey='z',RowKey='r')"),
		"a query of policies":           batchQuery("GET /" + wiretest.Account + "/people?comp=acl"),
		"a query of tables":             batchQuery("GET /" + wiretest.Account + "/Tables"),
		"a query of the schema":         batchQuery("GET /" + wiretest.Account + "/$metadata"),
	} {
		list = append(list, sent{why: "batch: " + why, method: "POST", path: "/$batch", header: batch, body: body})
	}
	return list
}

// TestTokenReachesNothingElse checks that a token for a part of one table neither reveals nor changes any
// data outside that part.
func TestTokenReachesNothingElse(t *testing.T) {
	t.Parallel()
	h, key := newSecretServer(t)
	part := sas.TableValues{Table: "People", Expiry: "2030-01-01", Permissions: "raud", StartPartition: "m", EndPartition: "m"}
	byPolicy := part
	byPolicy.Identifier, byPolicy.Expiry, byPolicy.Permissions = "secret", "", ""
	lent, err := sas.Delegate(key, wiretest.Account, sas.Contributor,
		sas.DelegationKey{ObjectID: "o", TenantID: "t", Expiry: "2026-03-06", Version: sas.DelegationVersion}, h.Now())
	if err != nil {
		t.Fatal(err)
	}
	delegated := part
	delegated.Expiry = "2026-03-05"
	for kind, sign := range map[string]func() (string, error){
		"table SAS":      func() (string, error) { return part.Sign(wiretest.Account, key) },
		"by policy":      func() (string, error) { return byPolicy.Sign(wiretest.Account, key) },
		"delegation SAS": func() (string, error) { return delegated.SignDelegated(wiretest.Account, lent) },
	} {
		token, err := sign()
		if err != nil {
			t.Fatal(err)
		}
		// The token must give access to its own partition. With an invalid token, the other checks would
		// always succeed.
		open := sent{method: "GET", path: "/people()"}
		resp := h.Serve(t.Context(), open.withToken(token))
		if resp.Status != 200 || !bytes.Contains(resp.Body, []byte("open")) {
			t.Fatalf("%s: %d: %s", kind, resp.Status, resp.Body)
		}
		resp.Release()
		values, err := url.ParseQuery(token)
		if err != nil {
			t.Fatal(err)
		}
		before := readSecrets(t, h, key)
		for _, r := range forbiddenRequests() {
			resp := h.Serve(t.Context(), r.withToken(token))
			if bytes.Contains(resp.Body, []byte("secret")) && !bytes.Contains(resp.Body, []byte("error")) || bytes.Contains(resp.Body, []byte(">secret<")) {
				t.Errorf("%s, %s: %d: %s", kind, r.why, resp.Status, resp.Body)
			}
			for _, f := range append(resp.Header, protocol.Field{Name: "body", Value: string(resp.Body)}) {
				for _, signature := range []string{values.Get("sig"), lent.Value, wiretest.AccountKey} {
					if strings.Contains(f.Value, signature) || strings.Contains(f.Value, url.QueryEscape(signature)) {
						t.Errorf("%s, %s: found a signature or key in %s: %s", kind, r.why, f.Name, f.Value)
					}
				}
				if strings.HasPrefix(f.Name, "x-ms-continuation") {
					if k, err := continuation.Parse(f.Value); err != nil || string(k) != "m" && string(k) != "r" && string(k) != "s" {
						t.Errorf("%s, %s: %s names %q, %v", kind, r.why, f.Name, k, err)
					}
				}
			}
			resp.Release()
			if after := readSecrets(t, h, key); after != before {
				t.Fatalf("%s, %s (%d) changed\n%s to\n%s", kind, r.why, resp.Status, before, after)
			}
		}
	}
}
