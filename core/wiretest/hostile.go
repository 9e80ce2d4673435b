package wiretest

import (
	"bytes"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"edgetable/core/protocol"
)

// hostile lists requests that could bring a secret, or a text chosen by the client, into a log. The log must contain
// the string in the field shown, and no string in the field hidden.
var hostile = []struct {
	text   string
	hidden []string
	shown  string
}{
	{"GET /secretaccount/Tables HTTP/1.1\nx-test-failures: too many\nx-ms-client-request-id: secretid", []string{"secretaccount", "secretid"}, "failures"},
	{"SECRETVERB /secretaccount/Tables HTTP/1.1\nx-ms-client-request-id: secretid", []string{"SECRETVERB", "secretaccount", "secretid"}, "UnsupportedHttpVerb"},
	{"OPTIONS /secretaccount/Tables HTTP/1.1\nx-ms-client-request-id: secretid", []string{"secretaccount", "secretid"}, "InvalidHeaderValue"},
	{"GET /secretaccount/Tables HTTP/1.1\nAuthorization: SharedKeyLite secretaccount:c2lnbmF0dXJl\nx-ms-client-request-id: secretid", []string{"secretaccount", "secretid"}, "account"},
	{"GET /devstoreaccount1/Tables HTTP/1.1\nAuthorization: (wrong key)\nx-ms-client-request-id: secretid", []string{"secretid"}, Account},
	{"GET /devstoreaccount1/Tables HTTP/1.1\nAuthorization: (absent)\nx-ms-client-request-id: secretid", []string{"secretid"}, "anonymous"},
	{"GET /devstoreaccount1/secrettable?sv=2019-02-02&tn=secrettable&sp=r&se=2030-01-01&sig=c2lnbmF0dXJl HTTP/1.1\nAuthorization: (absent)", []string{"secrettable"}, "sas"},
	{"GET /devstoreaccount1/secrettable?sv=2019-02-02&tn=secrettable&si=policy&sig=c2lnbmF0dXJl HTTP/1.1\nAuthorization: (absent)", []string{"secrettable"}, "sas"},
	{"GET /devstoreaccount1/Tables HTTP/1.1\nAuthorization: Bearer secrettoken\nx-ms-version: 2020-12-06", []string{"secrettoken"}, "token"},
	{"GET /devstoreaccount1/Tables HTTP/1.1\nAuthorization: SharedKey secretheader", []string{"secretheader"}, "malformed"},
	{"SECRETVERB /devstoreaccount1/Tables HTTP/1.1", []string{"SECRETVERB"}, "UnsupportedHttpVerb"},
	{"GET /devstoreaccount1/Tables HTTP/1.1\nx-ms-client-request-id: https://acme/people?sv=1&SIG=c2lnbmF0dXJl", nil, "QueryTables"},
	{"GET /devstoreaccount1/Tables HTTP/1.1\nx-ms-client-request-id: a%26sig%3Dc2lnbmF0dXJl", nil, "QueryTables"},
	{"GET /devstoreaccount1/Tables HTTP/1.1\nx-ms-client-request-id: AccountName=acme;AccountKey=c2lnbmF0dXJl", nil, "QueryTables"},
	{"GET /devstoreaccount1/Tables HTTP/1.1\nx-ms-client-request-id: usual", nil, "usual"},
	{"GET /devstoreaccount1/people(PartitionKey='secretkey',RowKey='secretkey') HTTP/1.1", []string{"secretkey"}, "people"},
	{"GET /devstoreaccount1/people()?$filter=Name%20eq%20'secretvalue' HTTP/1.1", []string{"secretvalue"}, "people"},
	{"GET /devstoreaccount1/secret'name() HTTP/1.1\nAccept: application/json", []string{"secret'name"}, "InvalidResourceName"},
	{"POST /devstoreaccount1/people HTTP/1.1\nContent-Type: application/json\n\n{\"PartitionKey\":\"secretkey\",\"RowKey\":5,\"A\":\"secretvalue\"}", []string{"secretkey", "secretvalue"}, "InvalidInput"},
}

// tooMany is a rate limiter that refuses every client.
type tooMany struct{}

func (tooMany) Take(string, int) time.Duration { return time.Second }
func (tooMany) Charge(string, int)             {}
func (tooMany) Peek(string) time.Duration      { return time.Second }

// Hostile checks what a server logs for hostile requests. The function serve must answer each request with the given
// handler, and return the text that was logged.
func Hostile(t *testing.T, serve func(h *protocol.Handler, req *protocol.Request) string) {
	t.Helper()
	var clock Clock
	clock.Set(Start)
	h, err := newHandler(&clock, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range hostile {
		r, err := NewRequest(tt.text, Start)
		if err != nil {
			t.Fatal(err)
		}
		header := make(protocol.Header)
		for _, f := range r.Header {
			name := textproto.CanonicalMIMEHeaderKey(f.Name)
			header[name] = append(header[name], f.Value)
		}
		if header.Get("Accept") == "" {
			header["Accept"] = []string{"application/json"}
		}
		h.Limits.Failures = nil
		if header.Get("X-Test-Failures") != "" {
			h.Limits.Failures = tooMany{}
		}
		said := serve(h, &protocol.Request{
			Method: r.Method, Target: r.Target, Host: r.Host, Scheme: "http", Header: header,
			Body: bytes.NewReader(r.Body), ContentLength: int64(len(r.Body)), Source: loopback,
		})
		for _, secret := range append([]string{"c2lnbmF0dXJl", AccountKey}, tt.hidden...) {
			if strings.Contains(said, secret) {
				t.Errorf("%s\n\nthe log shows %s: %s", tt.text, secret, said)
			}
		}
		if !strings.Contains(said, tt.shown) {
			t.Errorf("%s\n\nthe log does not show %s: %s", tt.text, tt.shown, said)
		}
	}
}
