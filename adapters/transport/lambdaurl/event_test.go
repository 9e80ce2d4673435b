package lambdaurl_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"edgetable/adapters/transport/lambdaurl"
	"edgetable/core/protocol"
	"edgetable/core/table"
)

// recorder is a Protocol that records the request and always gives the same response.
type recorder struct {
	resp    protocol.Response
	req     *protocol.Request
	body    string
	err     error // error of reading the body
	ctx     context.Context
	served  int
	refused *table.Error
}

func (r *recorder) Serve(ctx context.Context, req *protocol.Request) protocol.Response {
	r.served++
	r.ctx, r.req = ctx, req
	if req.Body != nil {
		b, err := io.ReadAll(req.Body)
		r.body, r.err = string(b), err
	}
	return r.resp
}

func (r *recorder) Refuse(req *protocol.Request, err *table.Error) protocol.Response {
	r.req, r.refused = req, err
	return protocol.Response{Status: err.Status(), Summary: protocol.Summary{Code: string(err.Code)}, Body: []byte(err.Message)}
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestEvents checks that each kind of event is converted to the request that the client sent, as far as the front
// door preserves it.
func TestEvents(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, method, target, host, scheme, source string
		header                                     map[string]string // multiple values are separated by |
		body                                       string
	}{
		{
			"function-url", "POST", "/acme/people(PartitionKey='50%25',RowKey='%3F')?$select=Name%2CAge&empty=&plus=a+b",
			"2cxn22odiwguak4feg4jtt7cwm0ziblr.lambda-url.us-west-2.on.aws", "https", "203.0.113.9",
			map[string]string{"X-Http-Method": "MERGE|PUT", "X-Probe": "first,second", "X-Ms-Date": "Wed, 04 Mar 2026 05:06:07 GMT", "Cookie": "session=abc123; theme=dark", "Content-Length": "66"},
			`{"message":"λ"}`,
		},
		{
			"rest-api", "POST", "/acme/people(PartitionKey='50%25',RowKey='%3F')?%24filter=Name%20eq%20%27R%26D%2B50%25%27&empty=&repeat=one&repeat=two",
			"5h7pqvr9u4.execute-api.us-west-2.amazonaws.com", "https", "203.0.113.9",
			map[string]string{"X-Http-Method": "MERGE|PUT", "Date": "Wed, 04 Mar 2026 05:06:07 GMT", "Content-Type": "application/json"},
			`{"message":"λ"}`,
		},
		{
			"load-balancer-lists", "MERGE", "/acme/people(PartitionKey='50%25',RowKey='%3F')?$filter=Name%20eq%20'R%26D%2B50%25'&empty=&plus=a+b&repeat=one&repeat=two",
			"tables.example.com", "http", "203.0.113.9",
			map[string]string{"X-Http-Method": "MERGE|PUT", "Content-Length": "16"},
			`{"message":"λ"}`,
		},
		{
			"load-balancer", "GET", "/acme/Tables?$top=5", "tables.example.com", "https", "2001:db8::1",
			map[string]string{"X-Http-Method": "", "Content-Length": ""}, "",
		},
	} {
		r := &recorder{resp: protocol.Response{Status: 204}}
		h := &lambdaurl.Handler{Protocol: r}
		if _, err := h.Invoke(t.Context(), fixture(t, tt.name)); err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if r.req.Method != tt.method || r.req.Target != tt.target || r.req.Host != tt.host || r.req.Scheme != tt.scheme || r.req.Source.String() != tt.source {
			t.Errorf("%s: %s %s at %s by %s from %s", tt.name, r.req.Method, r.req.Target, r.req.Host, r.req.Scheme, r.req.Source)
		}
		for name, want := range tt.header {
			if got := strings.Join(r.req.Header.Values(name), "|"); got != want {
				t.Errorf("%s: %s: %q, want %q", tt.name, name, got, want)
			}
		}
		if r.body != tt.body || r.err != nil || r.req.ContentLength != int64(len(tt.body)) {
			t.Errorf("%s: body %q of %d bytes, %v", tt.name, r.body, r.req.ContentLength, r.err)
		}
	}
}

// TestHTTPAPI checks that requests through an HTTP API are refused, and that the error says that HTTP APIs change
// paths.
func TestHTTPAPI(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	answer, err := (&lambdaurl.Handler{Protocol: r}).Invoke(t.Context(), fixture(t, "http-api"))
	if err != nil || r.served != 0 || r.refused == nil || !strings.Contains(string(answer), `{"statusCode":501`) ||
		!strings.Contains(string(answer), "decodes the escapes") {
		t.Errorf("%s, %v, served %d times", answer, err, r.served)
	}
	// An HTTP API with a custom domain is recognized, too.
	custom := strings.ReplaceAll(string(fixture(t, "http-api")), "sjzepsqsu5.execute-api.us-west-2.amazonaws.com", "tables.example.com")
	if answer, err = (&lambdaurl.Handler{Protocol: r}).Invoke(t.Context(), []byte(custom)); err != nil || r.served != 0 {
		t.Errorf("%s, %v, served %d times", answer, err, r.served)
	}
}

// TestFieldsInAnyCase checks header names from a REST API, which keeps their case. Names that differ only in case
// must become one header with all values in a fixed order.
func TestFieldsInAnyCase(t *testing.T) {
	t.Parallel()
	const event = `{"httpMethod":"GET","path":"/","requestContext":{"path":"/"},"multiValueHeaders":{
		"host":["b"],"X-Forwarded-For":["192.0.2.1"],"Host":["a"],"x-forwarded-for":["192.0.2.3"],"X-FORWARDED-FOR":["192.0.2.0"]}}`
	for range 20 { // try it many times, because the order of a map is random
		r := &recorder{resp: protocol.Response{Status: 204}}
		if _, err := (&lambdaurl.Handler{Protocol: r}).Invoke(t.Context(), []byte(event)); err != nil {
			t.Fatal(err)
		}
		want := protocol.Header{"Host": {"a", "b"}, "X-Forwarded-For": {"192.0.2.0", "192.0.2.1", "192.0.2.3"}, "Content-Length": {"0"}}
		if diff := cmp.Diff(want, r.req.Header); diff != "" {
			t.Fatal(diff)
		}
	}
}

// TestBodies checks that bodies are decoded while they are read. At malformed base64, reading must fail.
func TestBodies(t *testing.T) {
	t.Parallel()
	encode := base64.StdEncoding.EncodeToString
	for _, tt := range []struct {
		body    string
		encoded bool
		want    string
		length  int64
		broken  bool
		why     string
	}{
		{"", false, "", 0, false, "nothing"},
		{"", true, "", 0, false, "nothing, encoded"},
		{"a\u0000\U0001F600", false, "a\u0000\U0001F600", 6, false, "text"},
		{encode([]byte("a")), true, "a", 1, false, "two signs of padding"},
		{encode([]byte("ab")), true, "ab", 2, false, "one"},
		{encode([]byte("abc\xff\x00\r\n")), true, "abc\xff\x00\r\n", 7, false, "bytes"},
		{"!!!!", true, "", 3, true, "no base64"},
		{encode([]byte("abc")) + "!", true, "abc", 3, true, "base64 and more"},
		{"====", true, "", 1, true, "padding of nothing"},
		{"=", true, "", 0, true, "one sign of it"},
		{"0000=", true, "\xd3M4", 3, true, "padding behind the end"},
	} {
		event, err := json.Marshal(map[string]any{
			"version": "2.0", "rawPath": "/", "body": tt.body, "isBase64Encoded": tt.encoded,
			"requestContext": map[string]any{"domainName": "id.lambda-url.region.on.aws", "http": map[string]string{"method": "POST"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		r := &recorder{resp: protocol.Response{Status: 204}}
		if _, err := (&lambdaurl.Handler{Protocol: r}).Invoke(t.Context(), event); err != nil {
			t.Errorf("%s: %v", tt.why, err)
			continue
		}
		if r.body != tt.want || (r.err != nil) != tt.broken || r.req.ContentLength != tt.length {
			t.Errorf("%s: %q of %d bytes, %v", tt.why, r.body, r.req.ContentLength, r.err)
		}
	}
}

// TestTask checks that an event that is not an HTTP request causes an error, unless the handler has a Task.
func TestTask(t *testing.T) {
	t.Parallel()
	failure := errors.New("the task failed")
	for _, event := range []string{`{"purge":true}`, `{}`, `{"version":"2.0"}`, `{"Records":[{"eventSource":"aws:s3"}]}`} {
		r := &recorder{}
		h := &lambdaurl.Handler{Protocol: r}
		if answer, err := h.Invoke(t.Context(), []byte(event)); err == nil || answer != nil {
			t.Errorf("%s: %s, %v", event, answer, err)
		}
		if answer, err := h.Stream(t.Context(), []byte(event)); err == nil || answer != nil {
			t.Errorf("%s: %v, %v", event, answer, err)
		}
		var got string
		var fails error
		h.Task = func(_ context.Context, e json.RawMessage) error { got = string(e); return fails }
		if answer, err := h.Invoke(t.Context(), []byte(event)); err != nil || string(answer) != "null" || got != event {
			t.Errorf("%s: %s, %v, task of %s", event, answer, err, got)
		}
		if answer, err := h.Stream(t.Context(), []byte(event)); err != nil || answer != nil {
			t.Errorf("%s: %v, %v", event, answer, err)
		}
		fails = failure
		if _, err := h.Invoke(t.Context(), []byte(event)); !errors.Is(err, failure) {
			t.Errorf("%s: %v", event, err)
		}
		if r.served != 0 {
			t.Errorf("%s was served", event)
		}
	}
	for _, event := range []string{``, `null`, `[]`, `{"httpMethod":"GET","queryStringParameters":[]}`, `{"headers":5}`} {
		if answer, err := (&lambdaurl.Handler{Protocol: &recorder{}}).Invoke(t.Context(), []byte(event)); err == nil {
			t.Errorf("%s: %s", event, answer)
		}
	}
}
