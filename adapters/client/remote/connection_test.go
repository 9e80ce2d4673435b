package remote

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const key = "c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IHNlY3I="

func TestParseConnection(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, url, account, token string }{
		{"UseDevelopmentStorage=true", "http://127.0.0.1:10002/devstoreaccount1", "devstoreaccount1", ""},
		{" usedevelopmentstorage=TRUE;DevelopmentStorageProxyUri=http://myhost; ", "http://myhost:10002/devstoreaccount1", "devstoreaccount1", ""},
		{"DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=" + key + ";EndpointSuffix=core.chinacloudapi.cn", "https://acme.table.core.chinacloudapi.cn", "acme", ""},
		{"AccountName=acme;AccountKey=" + key, "https://acme.table.core.windows.net", "acme", ""},
		{"DefaultEndpointsProtocol=https;AccountName=c;AccountKey=" + key + ";TableEndpoint=https://c.table.cosmos.azure.com:443/;", "https://c.table.cosmos.azure.com:443", "c", ""},
		{"BlobEndpoint=https://a.blob.x/;TableEndpoint=https://a.table.x/;SharedAccessSignature=sv=2019&sig=x%2B", "https://a.table.x", "", "sv=2019&sig=x%2B"},
		{"https://a.table.x/?sv=2019&ss=t&sig=x%3D", "https://a.table.x", "", "sv=2019&ss=t&sig=x%3D"},
		{"https://a.table.x/People?sv=2019&tn=people&sig=x", "https://a.table.x", "", "sv=2019&tn=people&sig=x"},
		{"http://127.0.0.1:10002/acme/people?tn=People&sig=x", "http://127.0.0.1:10002/acme", "", "tn=People&sig=x"},
		{"http://127.0.0.1:10002/people?tn=other&sig=x", "http://127.0.0.1:10002/people", "", "tn=other&sig=x"},
		{"http://127.0.0.1:7/devstoreaccount1", "http://127.0.0.1:7/devstoreaccount1", "devstoreaccount1", ""},
	} {
		e, err := ParseConnection(tt.text)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if e.String() != tt.url || e.account != tt.account || e.token != tt.token || (e.key == nil) != (tt.token != "") {
			t.Errorf("%s: %s, account %q, token %q, key %v", tt.text, e, e.account, e.token, e.key != nil)
		}
	}
}

// TestParseConnectionErrors checks that errors and endpoints do not contain secrets.
func TestParseConnectionErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                  "neither AccountName nor TableEndpoint",
		"secret":            "Name=value parts",
		"AccountName=acme":  "neither AccountKey nor SharedAccessSignature",
		"AccountKey=secret": "neither AccountName",
		"AccountKey=secret;TableEndpoint=https://x":                       "no AccountName",
		"AccountName=acme;AccountKey=secret!":                             "not base64",
		"https://acme.table.core.windows.net":                             "no shared access signature",
		"https://a.b/?sig=secret;%zz":                                     "cannot be read",
		"AccountName=a;AccountKey=" + key + ";TableEndpoint=ftp://secret": "not a URL",
	} {
		_, err := ParseConnection(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{"AccountName=acme;AccountKey=" + key, "https://a.table.x/?sv=2019&sig=" + key} {
		e, err := ParseConnection(text)
		if shown := fmt.Sprintf("%v %+v %#v", e, e, e); err != nil || strings.Contains(shown, key) {
			t.Errorf("%s (%v)", shown, err)
		}
	}
}

// TestAdvice checks that the error for a wrong key or signature says what to do. Other errors must not give this
// advice.
func TestAdvice(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	const token = "https://a.table.x/?sv=2019-02-02&sig=x&se=2026-11-22T"
	for _, tt := range []struct {
		connection, code string
		status           int
		want             string
	}{
		{token + "11%3A59%3A59Z", "AuthenticationFailed", 403, "the shared access signature expired at 2026-11-22T11:59:59Z: run the command again"},
		{token + "11%3A59%3A59Z", "AuthorizationFailure", 403, "expired"},
		{token + "12%3A01%3A00Z", "AuthenticationFailed", 403, "the shared access signature is wrong or has been revoked"},
		{token + "12%3A01%3A00Z", "AuthorizationPermissionMismatch", 403, ""},
		{token + "11%3A59%3A59Z", "TableNotFound", 404, "'edgetable tables list' lists"},
		{"AccountName=a;AccountKey=" + key, "AuthenticationFailed", 403, "the account name or key is wrong, or the key has been replaced"},
	} {
		e, err := ParseConnection(tt.connection)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.advice(&Error{Status: tt.status, Code: tt.code}, "", now); !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%s, %s: %q, want %q", tt.connection, tt.code, got, tt.want)
		}
	}
}

// TestAccountOfURL checks the account of a shared access signature, which contains no name: the last segment of the
// path, or the first label of the host.
func TestAccountOfURL(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"https://acme.table.core.windows.net", "http://acme:10002", "http://127.0.0.1:10002/acme", "https://gateway/tables/acme"} {
		e, err := ParseConnection(address + "/?sig=x")
		if err != nil || e.Account() != "acme" {
			t.Errorf("%s: %q, %v", address, e.Account(), err)
		}
	}
}
