package main

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"edgetable/core/accounts"
	"edgetable/testdata/must"
)

// TestAudienceOfAccounts checks a server with several accounts. Each account must name the audience
// of its tokens, and the log must list the accounts without an audience.
func TestAudienceOfAccounts(t *testing.T) {
	t.Parallel()
	issuer := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(issuer.Close)
	for list, without := range map[string]string{
		"acme:" + key1:                                                        "",
		"acme:" + key1 + ";beta:" + key2:                                      "accounts=\"acme beta\"",
		"acme:" + key1 + " audience=tables;beta:" + key2:                      "accounts=beta",
		"acme:" + key1 + " audience=tables;beta:" + key2 + " audience=tables": "",
	} {
		s := start(t, map[string]string{accounts.Variable: list}, "--memory", "--oidc-issuer", issuer.URL, "--oidc-audiences", "tables")
		s.ends(t)
		if logs := s.logs.String(); without == "" && strings.Contains(logs, "accept no bearer tokens") || !strings.Contains(logs, without) {
			t.Errorf("%s: the log says\n%s", list, logs)
		}
	}
}

// TestIssuerThatHasNoKeys checks a server that cannot read the keys of the token issuer. The
// response must ask clients to retry, and the log must have the reason.
func TestIssuerThatHasNoKeys(t *testing.T) {
	t.Parallel()
	issuer := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(issuer.Close)
	s := start(t, nil, "--memory", "--oidc-issuer", issuer.URL, "--oidc-audiences", "tables")
	if got := s.greetingText(t, "bearer tokens of "); got != issuer.URL+" for tables" {
		t.Errorf("the greeting says %q", got)
	}
	part := base64.RawURLEncoding.EncodeToString
	token := part([]byte(`{"alg":"RS256","kid":"a"}`)) + "." + part(fmt.Appendf(nil,
		`{"iss":%q,"aud":"tables","sub":"ada","exp":%d}`, issuer.URL, time.Now().Add(time.Hour).Unix())) + "." + part([]byte("signature"))
	for range 3 {
		req, err := http.NewRequestWithContext(t.Context(), "GET", s.greetingText(t, "endpoint")+"/Tables", nil)
		must.OK(t, err)
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("x-ms-version", "2019-02-02")
		resp, err := http.DefaultClient.Do(req)
		must.OK(t, err)
		resp.Body.Close()
		if resp.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("status %d", resp.StatusCode)
		}
	}
	s.ends(t)
	logs := s.logs.String()
	if !strings.Contains(logs, "keys of the token issuer cannot be read") || !strings.Contains(logs, "/.well-known/openid-configuration answered 404") || strings.Contains(logs, token) {
		t.Errorf("the log says:\n%s", logs)
	}
}
