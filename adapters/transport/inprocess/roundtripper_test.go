package inprocess_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"edgetable/adapters/transport/inprocess"
	"edgetable/core/protocol"
	"edgetable/testdata/must"
)

type protocolFunc func(ctx context.Context, req *protocol.Request) protocol.Response

func (f protocolFunc) Serve(ctx context.Context, req *protocol.Request) protocol.Response {
	return f(ctx, req)
}

// TestRoundTrip checks that requests and responses are the same as over a network connection.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	var got protocol.Request
	var sent string
	answer := protocol.Response{Status: 201, Header: []protocol.Field{{Name: "x-ms-version", Value: "v"}, {Name: "ETag", Value: "e"}}, Body: []byte("made")}
	c := http.Client{Transport: inprocess.RoundTripper{Protocol: protocolFunc(func(_ context.Context, req *protocol.Request) protocol.Response {
		got = *req
		sent = ""
		if req.Body != nil {
			text, err := io.ReadAll(req.Body)
			must.OK(t, err)
			sent = string(text)
		}
		return answer
	})}}
	for _, tt := range []struct{ method, body, want string }{{"POST", `{"a":1}`, "made"}, {"GET", "", "made"}, {"HEAD", "", ""}} {
		req, err := http.NewRequestWithContext(t.Context(), tt.method, "http://here/acme/T(PartitionKey='%2F',RowKey='')?$filter=a%20eq%201", strings.NewReader(tt.body))
		must.OK(t, err)
		req.Header["x-ms-date"] = []string{"now"} // a spelling that is not canonical
		resp, err := c.Do(req)
		must.OK(t, err)
		text, err := io.ReadAll(resp.Body)
		must.OK(t, errors.Join(err, resp.Body.Close()))
		if got.Target != "/acme/T(PartitionKey='%2F',RowKey='')?$filter=a%20eq%201" || got.Host != "here" || got.Scheme != "http" || got.Header.Get("X-Ms-Date") != "now" ||
			sent != tt.body || got.ContentLength != int64(len(tt.body)) {
			t.Errorf("%s: served %+v with %q", tt.method, got, sent)
		}
		if string(text) != tt.want || resp.StatusCode != 201 || resp.Header.Get("X-Ms-Version") != "v" || resp.ContentLength != 4 {
			t.Errorf("%s: %v with %q", tt.method, resp, text)
		}
	}
	answer.Disconnect = true
	if _, err := c.Get("http://here/"); err == nil {
		t.Error("a cut connection is an answer")
	}
	ended, end := context.WithCancel(t.Context())
	end()
	req, err := http.NewRequestWithContext(ended, "GET", "http://here/", nil)
	must.OK(t, err)
	if _, err := c.Do(req); !errors.Is(err, context.Canceled) {
		t.Errorf("a request that was given up: %v", err)
	}
}
