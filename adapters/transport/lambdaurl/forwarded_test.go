package lambdaurl_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"edgetable/adapters/transport/lambdaurl"
	"edgetable/core/protocol"
)

// TestForwarded checks that only a proxy that sends the secret is trusted.
func TestForwarded(t *testing.T) {
	t.Parallel()
	const own, name = "id.lambda-url.region.on.aws", "acme.table.example.com"
	for _, tt := range []struct {
		secret, shown string // "-" means that there is none
		err           error
		viewer        string
		host, source  string
		why           string
	}{
		{"open sesame", "open sesame", nil, "203.0.113.9", name, "203.0.113.9", "the proxy"},
		{"open sesame", "open sesame", nil, "2001:db8::1", name, "2001:db8::1", "IPv6"},
		{"open sesame", "open sesame", nil, "", name, "invalid IP", "it does not say who asks: its own address is not the client's"},
		{"open sesame", "open sesam", nil, "203.0.113.9", own, "192.0.2.1", "another secret"},
		{"open sesame", "-", nil, "203.0.113.9", own, "192.0.2.1", "no secret is shown"},
		{"open sesame", "", nil, "203.0.113.9", own, "192.0.2.1", "an empty one"},
		{"", "", nil, "203.0.113.9", own, "192.0.2.1", "an empty one is no secret"},
		{"", "open sesame", nil, "203.0.113.9", own, "192.0.2.1", "nor is it equal to any"},
		{"-", "open sesame", nil, "203.0.113.9", own, "192.0.2.1", "nobody is to be believed"},
		{"open sesame", "open sesame", errors.New("unreachable"), "203.0.113.9", own, "192.0.2.1", "the secret cannot be read"},
	} {
		header := map[string]string{"host": own, "x-forwarded-host": name, "x-edgetable-viewer": tt.viewer}
		if tt.shown != "-" {
			header["x-edgetable-forward-secret"] = tt.shown
		}
		event, err := json.Marshal(map[string]any{
			"version": "2.0", "rawPath": "/Tables", "headers": header,
			"requestContext": map[string]any{"domainName": own, "http": map[string]string{"method": "GET", "sourceIp": "192.0.2.1"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		r := &recorder{resp: protocol.Response{Status: 204}}
		h := &lambdaurl.Handler{Protocol: r}
		if tt.secret != "-" {
			h.Secret = func(context.Context) (string, error) {
				if tt.shown == "-" {
					t.Errorf("%s: the secret is read", tt.why)
				}
				return tt.secret, tt.err
			}
		}
		invoke(t, h, event)
		if r.req.Host != tt.host || r.req.Source.String() != tt.source {
			t.Errorf("%s: %s from %s", tt.why, r.req.Host, r.req.Source)
		}
		if r.req.Header.Get(lambdaurl.SecretHeader) != "" {
			t.Errorf("%s: the secret goes further", tt.why)
		}
	}
}
