package lambdaurl_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"edgetable/adapters/transport/lambdaurl"
	"edgetable/core/protocol"
	"edgetable/testdata/lambda/front"
)

// FuzzEvent checks that any event is converted to a valid request, and that Lambda gets a valid answer.
func FuzzEvent(f *testing.F) {
	for _, name := range []string{"function-url", "http-api", "rest-api", "load-balancer", "load-balancer-lists"} {
		f.Add(fixture(f, name))
	}
	f.Fuzz(func(t *testing.T, event []byte) {
		r := &recorder{resp: protocol.Response{Status: 200, Body: event}}
		h := &lambdaurl.Handler{Protocol: r}
		answer, err := h.Invoke(t.Context(), event)
		if err != nil {
			if answer != nil || r.req != nil {
				t.Errorf("%v, but %s", err, answer)
			}
			return
		}
		if !json.Valid(answer) {
			t.Errorf("no JSON: %q", answer)
		}
		if r.req.Scheme != "https" && r.req.Scheme != "http" || r.req.Target == "" {
			t.Errorf("%+v", r.req)
		}
		// A body in base64 may contain line ends. The decoded body is then shorter than the length that the event
		// announces, and the protocol refuses the request. No front door writes such line ends.
		if r.req.ContentLength < int64(len(r.body)) {
			t.Errorf("%d bytes are announced, %d come", r.req.ContentLength, len(r.body))
		}
		var e struct{ RawPath, RawQueryString, Version string }
		if json.Unmarshal(event, &e) == nil && e.Version == "2.0" && strings.HasPrefix(e.RawPath, "/") && e.RawQueryString != "" &&
			r.req.Target != e.RawPath+"?"+e.RawQueryString {
			t.Errorf("the target is %q", r.req.Target)
		}
	})
}

// FuzzRequest checks that a client's request arrives unchanged through a front door.
func FuzzRequest(f *testing.F) {
	f.Add("GET", "/acme/T(PartitionKey='50%25',RowKey='%2f')?$filter=a%20eq%20'b'", "x-ms-date", "Wed, 04 Mar 2026 05:06:07 GMT", []byte("{}"))
	f.Add("MERGE", "/a//b?", "Content-Type", "application/atom+xml", []byte("\xff\x00"))
	f.Fuzz(func(t *testing.T, method, target, name, value string, body []byte) {
		path, query, _ := strings.Cut(target, "?")
		if !strings.HasPrefix(path, "/") || strings.Contains(path, "://") || method == "" || !token(method) || !token(name) ||
			strings.HasPrefix(http.CanonicalHeaderKey(name), "X-") || http.CanonicalHeaderKey(name) == "Host" || !visible(path+query+value) {
			return
		}
		r := &recorder{resp: protocol.Response{Status: 204}}
		event := front.Event(&front.Request{
			Method: method, Target: target, Host: "h", Scheme: "https",
			Header: []front.Field{{Name: name, Value: value}}, Body: body,
		})
		if _, err := (&lambdaurl.Handler{Protocol: r}).Invoke(t.Context(), event); err != nil {
			t.Fatal(err)
		}
		if want := strings.TrimSuffix(path+"?"+query, "?"); r.req.Method != method || r.req.Target != want && r.req.Target != want+"?" {
			t.Errorf("%s %s became %s %s", method, target, r.req.Method, r.req.Target)
		}
		if got := r.req.Header.Get(http.CanonicalHeaderKey(name)); got != value {
			t.Errorf("%s: %q became %q", name, value, got)
		}
		if r.body != string(body) || r.err != nil {
			t.Errorf("%q became %q, %v", body, r.body, r.err)
		}
	})
}

func token(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == ""
}

func visible(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
