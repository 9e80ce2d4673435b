package httpserver_test

import (
	"context"
	"net/http"
	"testing"

	"edgetable/adapters/transport/httpserver"
	"edgetable/core/protocol"
)

// TestPage checks that a browser that asks for /, or for the page without its final slash, is redirected to the page.
// Clients of the protocol must get the response of the protocol.
func TestPage(t *testing.T) {
	t.Parallel()
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	addr := start(t, &httpserver.Server{Handler: &httpserver.Handler{
		Page: "/_/",
		Protocol: protocolFunc(func(context.Context, *protocol.Request) protocol.Response {
			return protocol.Response{Status: 400}
		}),
	}})
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, row := range []struct {
		method, path, accept, authorization string
		want                                int
	}{
		{"GET", "/", browser, "", 302},
		{"GET", "/_", browser, "", 302},
		{"GET", "/_", "application/json", "", 400},
		{"GET", "/acme", browser, "", 400},
		{"GET", "/?comp=list", browser, "", 400},
		{"POST", "/", browser, "", 400},
		{"GET", "/", "application/json", "", 400},
		{"GET", "/", "", "", 400},
		{"GET", "/", browser, "SharedKey a:b", 400},
	} {
		req, err := http.NewRequestWithContext(t.Context(), row.method, "http://"+addr+row.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", row.accept)
		if row.authorization != "" {
			req.Header.Set("Authorization", row.authorization)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != row.want || row.want == 302 && resp.Header.Get("Location") != "/_/" {
			t.Errorf("%+v: %d, Location %q", row, resp.StatusCode, resp.Header.Get("Location"))
		}
	}
}
