package httpserver_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"

	"edgetable/adapters/transport/httpserver"
	"edgetable/core/protocol"
)

// TestOwnBody checks that Own can read short bodies without closing the connection. A body that was not read must not
// be parsed as the next request.
func TestOwnBody(t *testing.T) {
	t.Parallel()
	addr := start(t, &httpserver.Server{Handler: &httpserver.Handler{
		Own: func(req *protocol.Request) protocol.Response {
			if req.Body == nil || strings.HasSuffix(req.Target, "unread") {
				return protocol.Response{Status: 204}
			}
			text, err := io.ReadAll(req.Body)
			if err != nil {
				return protocol.Response{Status: 500, Body: []byte(err.Error())}
			}
			return protocol.Response{Status: 200, Body: text}
		},
		Protocol: protocolFunc(func(context.Context, *protocol.Request) protocol.Response { return protocol.Response{Status: 400} }),
	}})
	var client http.Client
	for _, row := range []struct {
		path   string
		length int
		want   int
		reused bool // whether the request uses the same connection as the previous request
	}{
		{"read", 0, 204, false},
		{"read", 100, 200, true},
		{"read", 20 << 10, 200, true},
		{"read", 64 << 10, 200, true},
		{"unread", 100, 204, true},
		{"read", 65 << 10, 204, false},
		{"read", 100, 200, false},
		{"read", 100, 200, true},
	} {
		reused := false
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { reused = c.Reused }})
		body := strings.Repeat("x", row.length)
		req, err := http.NewRequestWithContext(ctx, "POST", "http://"+addr+"/_/"+row.path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != row.want || row.want == 200 && string(text) != body || reused != row.reused {
			t.Errorf("%s %d: status %d, %d bytes, connection used again %t, %v", row.path, row.length, resp.StatusCode, len(text), reused, err)
		}
	}
}
