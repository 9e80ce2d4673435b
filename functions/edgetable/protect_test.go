package main

import (
	"strings"
	"testing"

	"edgetable/core/accounts"
)

// TestServeRefusesOptions checks that a server with an invalid option stops before it listens.
func TestServeRefusesOptions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args, say string
		status    int
	}{
		{"--limits fast", "account=20000,partition=2000", 2},
		{"--max-requests 0", "write a whole number from 1", 2},
		{"--limits failures=-1", "failures=N: write a number from 0", 2},
		{"--oidc-audiences x", "--oidc-issuer is missing", 2},
		{"--oidc-roles claim=groups", "--oidc-issuer is missing", 2},
		{"--oidc-roles groups", "write read=ROLE", 2},
		{"--oidc-issuer https://login.example/", "--oidc-audiences is missing", 2},
		{"--oidc-issuer http://login.example/ --oidc-audiences x", "https", 2},
		{"--oidc-issuer https://login.example/ --oidc-audiences x --listen 0.0.0.0:0 --allow-development-account", "--trust-proxy", 1},
		{"--chaos fault=fire", "fire", 2},
		{"--chaos @/nowhere", "--chaos: /nowhere", 1},
	} {
		status, _, err := run(t, nil, append([]string{"serve", "--listen", "127.0.0.1:0", "--memory"}, strings.Fields(tt.args)...)...)
		if status != tt.status || !strings.Contains(err, tt.say) {
			t.Errorf("%s: status %d: %s", tt.args, status, err)
		}
	}
}

func TestServeLimits(t *testing.T) {
	t.Parallel()
	s := start(t, nil, "--memory", "--limits", "account=0.001")
	c := s.client(t, "")
	if status := c.status(t, "GET", "/Tables"); status != 200 {
		t.Errorf("the first request: %d", status)
	}
	if status := c.status(t, "GET", "/Tables"); status != 503 {
		t.Errorf("the second: %d", status)
	}
}

func TestServeChaos(t *testing.T) {
	t.Parallel()
	s := start(t, nil, "--memory", "--chaos", "operation=QueryTables fault=503 count=1", "--chaos", "operation=QueryTables every=3 fault=reset")
	c := s.client(t, "")
	for i, want := range []int{503, 200, 200, 0, 200} {
		if status := c.status(t, "GET", "/Tables"); status != want {
			t.Errorf("request %d: %d, want %d", i+1, status, want)
		}
	}
	s.ends(t)
	if !strings.Contains(s.logs.String(), "faults are simulated") {
		t.Errorf("there was no warning:\n%s", s.logs)
	}
}

// status sends a request and returns the status of the response. Without a response it returns 0.
func (c *signingClient) status(t *testing.T, method, path string) int {
	t.Helper()
	c.CloseIdleConnections() // no open connections, because the client would repeat a GET whose connection was closed
	resp, err := c.Do(c.request(t, method, path, ""))
	if err != nil {
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}

// TestServeFirewall checks accounts that are disabled or restricted to some addresses. The server
// must refuse their requests even with the right key. It must use the client address that a trusted
// proxy reports.
func TestServeFirewall(t *testing.T) {
	t.Parallel()
	env := map[string]string{accounts.Variable: "open:" + key1 + ";closed:" + key1 + " disabled;inside:" + key1 + " allow=10.0.0.0/8 deny=10.9.0.1;local:" + key1 + " allow=127.0.0.1"}
	s := start(t, env, "--memory", "--trust-proxy")
	endpoint := strings.TrimSuffix(s.greetingText(t, "endpoint"), "/closed")
	for _, tt := range []struct {
		account, forwarded string
		status             int
		code, why          string
	}{
		{"open", "", 200, "", "nothing said"},
		{"closed", "", 403, "AccountIsDisabled", "disabled"},
		{"local", "", 200, "", "the address of the connection"},
		{"inside", "", 403, "AuthorizationFailure", "not from here"},
		{"inside", "10.1.2.3", 200, "", "from behind the proxy"},
		{"inside", "10.1.2.3, 192.0.2.1", 403, "AuthorizationFailure", "what the client said counts for nothing"},
		{"inside", "192.0.2.1, 10.1.2.3:4711", 200, "", "what the proxy saw does, with a port too"},
		{"inside", "10.9.0.1", 403, "AuthorizationFailure", "denied"},
		{"local", "10.1.2.3", 403, "AuthorizationFailure", "the proxy is local, the client is not"},
	} {
		c := newClient(t, endpoint+"/"+tt.account, tt.account, key1)
		req := c.request(t, "GET", "/Tables", "")
		if tt.forwarded != "" {
			req.Header.Set("X-Forwarded-For", tt.forwarded)
		}
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != tt.status || resp.Header.Get("x-ms-error-code") != tt.code {
			t.Errorf("%s, %s: %d %s", tt.account, tt.why, resp.StatusCode, resp.Header.Get("x-ms-error-code"))
		}
	}
}
