// Package prove replays the wire corpus (recorded requests and responses) against a deployed
// server. infra/prove runs it.
package prove

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"edgetable/core/wiretest"
	"edgetable/testdata/must"
)

// TestWire uses the account in EDGETABLE_CONNECTION_STRING. It deletes all tables of this account.
func TestWire(t *testing.T) {
	connection := make(map[string]string)
	for field := range strings.SplitSeq(os.Getenv("EDGETABLE_CONNECTION_STRING"), ";") {
		name, value, _ := strings.Cut(field, "=")
		connection[name] = value
	}
	endpoint, err := url.Parse(connection["TableEndpoint"])
	must.OK(t, err)
	account := connection["AccountName"]
	if strings.Trim(endpoint.Path, "/") != account || account == "" {
		t.Fatal("EDGETABLE_CONNECTION_STRING needs AccountName, AccountKey, and a TableEndpoint with the account in its path")
	}
	remote := &wiretest.Remote{
		Account: account, Key: connection["AccountKey"], Scheme: endpoint.Scheme, Host: endpoint.Host,
		Dialect: wiretest.Dialect{Tokens: true, Ascending: os.Getenv("EDGETABLE_CLIENTS_ASCENDING") != ""}, Send: sender(endpoint.Scheme),
		Differs: strings.Fields(os.Getenv("EDGETABLE_WIRE_DIFFERS")),
	}
	if os.Getenv("EDGETABLE_CLIENTS_KEY_BYTES") != "" {
		remote.Dialect.TooLong = []string{"keys-refused/26"}
	}
	remote.Empty = func(t *testing.T) { empty(t, remote) }
	wiretest.RunRemote(t, remote)
	empty(t, remote)
}

// ownReason returns the reason phrase of the status line. If it is the standard phrase of the status,
// ownReason returns "", because some platforms replace other phrases. Payload Too Large is the standard
// phrase of workerd.
func ownReason(resp *http.Response) string {
	if resp.ProtoMajor > 1 {
		return ""
	}
	_, reason, _ := strings.Cut(resp.Status, " ")
	if reason == http.StatusText(resp.StatusCode) || resp.StatusCode == http.StatusRequestEntityTooLarge && reason == "Payload Too Large" {
		return ""
	}
	return reason
}

// sender sends requests over HTTP/1.1, and leaves URLs and the names of headers unchanged.
func sender(scheme string) wiretest.Target {
	client := &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DisableCompression: true,
			TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
		},
	}
	return func(r *wiretest.Request) (*wiretest.Response, error) {
		path, query, _ := strings.Cut(r.Target, "?")
		req := &http.Request{
			Method: r.Method, URL: &url.URL{Scheme: scheme, Host: r.Host, Opaque: path, RawQuery: query},
			Header: http.Header{"User-Agent": nil}, ContentLength: int64(len(r.Body)),
		}
		if r.Body != nil {
			req.Body = io.NopCloser(bytes.NewReader(r.Body))
		}
		if len(r.Body) == 0 {
			req.Body = http.NoBody
		}
		if r.Chunked {
			req.ContentLength = -1
		}
		for _, f := range r.Header {
			if !strings.EqualFold(f.Name, "Content-Length") {
				req.Header[f.Name] = append(req.Header[f.Name], f.Value)
			}
		}
		resp, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		answer := &wiretest.Response{Status: resp.StatusCode, Reason: ownReason(resp)}
		if os.Getenv("EDGETABLE_CLIENTS_LAST_WRITE_WINS") != "" {
			resp.Header.Del("X-Edgetable-Consistency") // only responses of tables in Workers KV have this header
		}
		for name, values := range resp.Header {
			for _, value := range values {
				answer.Header = append(answer.Header, wiretest.Field{Name: name, Value: value})
			}
		}
		answer.Body, err = io.ReadAll(resp.Body)
		return answer, err
	}
}

// empty deletes the tables of an account, and resets the account's service properties to those of a new account.
func empty(t *testing.T, remote *wiretest.Remote) {
	t.Helper()
	ask := func(text string) []byte {
		t.Helper()
		resp, err := remote.Ask(text)
		must.OK(t, err)
		if resp.Status >= 300 && resp.Status != http.StatusNotFound {
			t.Fatalf("%s: %d %s", text, resp.Status, resp.Body)
		}
		return resp.Body
	}
	var tables struct{ Value []struct{ TableName string } }
	must.OK(t, json.Unmarshal(ask("GET /devstoreaccount1/Tables HTTP/1.1\nAccept: application/json;odata=nometadata\n\n"), &tables))
	for _, table := range tables.Value {
		ask("DELETE /devstoreaccount1/Tables('" + table.TableName + "') HTTP/1.1\n\n")
	}
	off := "<Enabled>false</Enabled><RetentionPolicy><Enabled>false</Enabled></RetentionPolicy>"
	ask("PUT /devstoreaccount1/?restype=service&comp=properties HTTP/1.1\nContent-Type: application/xml\n\n<StorageServiceProperties>" +
		"<Logging><Version>1.0</Version><Delete>false</Delete><Read>false</Read><Write>false</Write><RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></Logging>" +
		"<HourMetrics><Version>1.0</Version>" + off + "</HourMetrics><MinuteMetrics><Version>1.0</Version>" + off + "</MinuteMetrics><Cors /></StorageServiceProperties>")
}
