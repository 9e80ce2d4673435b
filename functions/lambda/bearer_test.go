package main

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"edgetable/testdata/lambda/front"
	"edgetable/testdata/memstore"
	"edgetable/testdata/must"
)

// TestBearer checks that a function accepts bearer tokens of the configured issuer. Account keys must work even
// while the issuer does not answer.
func TestBearer(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must.OK(t, err)
	asked := 0
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "only", Use: "sig"}}})
	}))
	defer issuer.Close()
	token := func(audience string, roles ...string) string {
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: "only"}}, nil)
		must.OK(t, err)
		now := time.Now()
		s, err := jwt.Signed(signer).Claims(map[string]any{
			"iss": "https://login.example.com/", "aud": audience, "oid": "ada", "roles": roles,
			"nbf": now.Unix(), "exp": now.Add(time.Hour).Unix(),
		}).Serialize()
		must.OK(t, err)
		return s
	}
	run := func(jwks string) (*client, *bytes.Buffer) {
		log := new(bytes.Buffer)
		logger := slog.New(slog.NewJSONHandler(log, nil))
		c, err := newConfig(variables("AWS_REGION=eu-central-1", "EDGETABLE_DYNAMODB_TABLE=tables", "EDGETABLE_ACCOUNTS=acme:"+key1,
			"EDGETABLE_OIDC_ISSUER=https://login.example.com/", "EDGETABLE_OIDC_JWKS="+jwks,
			"EDGETABLE_OIDC_AUDIENCES=https://storage.azure.com, api://edgetable", "EDGETABLE_OIDC_READERS=reads, Reader of All"), logger)
		must.OK(t, err)
		h := newHandler(c, memstore.New(now), &worker{}, logger)
		return newClient(t, function{invoke: h.Invoke}, key1), log
	}
	send := func(c *client, method, target, body, token string) *front.Response {
		r := c.request(method, target, body)
		for i := range r.Header {
			if r.Header[i].Name == "Authorization" {
				r.Header[i].Value = "Bearer " + token
			}
		}
		answer, err := c.invoke(t.Context(), front.Event(r))
		must.OK(t, err)
		resp, err := front.Answer(answer, time.Now())
		must.OK(t, err)
		return resp
	}

	c, _ := run(issuer.URL)
	if asked != 0 {
		t.Error("the issuer was asked before there was a token")
	}
	const people = `{"TableName":"people"}`
	for _, tt := range []struct {
		why          string
		method, body string
		token        string
		want         int
	}{
		{"a contributor writes", "POST", people, token("api://edgetable", "Storage Table Data Contributor"), 201},
		{"a reader reads", "GET", "", token("https://storage.azure.com", "Reader of All"), 200},
		{"a reader does not write", "POST", people, token("api://edgetable", "reads"), 403},
		{"no role", "GET", "", token("api://edgetable"), 403},
		{"another service's token", "GET", "", token("api://else", "reads"), 401},
		{"no token", "GET", "", "e30.e30.e30", 401},
	} {
		resp := send(c, tt.method, "/Tables", tt.body, tt.token)
		if resp.Status != tt.want {
			t.Errorf("%s: %d %s", tt.why, resp.Status, resp.Body)
		}
		challenge := front.Field{Name: "WWW-Authenticate", Value: "Bearer authorization_uri=https://login.example.com/oauth2/authorize resource_id=https://storage.azure.com"}
		if tt.want == 401 && !slices.Contains(resp.Header, challenge) {
			t.Errorf("%s: %v", tt.why, resp.Header)
		}
	}
	if asked != 1 {
		t.Errorf("the issuer was asked %d times", asked)
	}

	issuer.Close()
	c, log := run(issuer.URL)
	good := token("api://edgetable", "reads")
	for range 3 {
		if resp := send(c, "GET", "/Tables", "", good); resp.Status != 503 {
			t.Errorf("without the issuer: %d %s", resp.Status, resp.Body)
		}
	}
	c.do(t, "GET", "/Tables", "", 200)
	if n := strings.Count(log.String(), "keys of the token issuer cannot be read"); n != 1 || strings.Contains(log.String(), good[:20]) {
		t.Errorf("%d lines: %s", n, log)
	}
}
