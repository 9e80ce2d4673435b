package oidc

import (
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

func TestNew(t *testing.T) {
	t.Parallel()
	aud := []string{audience}
	for _, tt := range []struct {
		name    string
		options Options
		reason  string // "" if the options are valid
	}{
		{"https", Options{Issuer: "https://sts.windows.net/tenant/", Audiences: aud}, ""},
		{"http on this machine, by name", Options{Issuer: "http://localhost:8080/realm", Audiences: aud}, ""},
		{"http on this machine, by address", Options{Issuer: "http://127.0.0.1:8080", Audiences: aud}, ""},
		{"http on this machine, IPv6", Options{Issuer: "http://[::1]:8080", Audiences: aud}, ""},
		{"keys of their own", Options{Issuer: "https://issuer.example", JWKS: "https://keys.example/set?version=2", Audiences: aud}, ""},

		{"no issuer", Options{Audiences: aud}, "issuer"},
		{"an issuer over http: anybody on the way could sign", Options{Issuer: "http://issuer.example", Audiences: aud}, "https"},
		{"a host that begins like this machine", Options{Issuer: "http://localhost.evil.example", Audiences: aud}, "https"},
		{"a user that looks like this machine", Options{Issuer: "http://127.0.0.1@issuer.example", Audiences: aud}, "https"},
		{"another scheme", Options{Issuer: "file:///etc/issuer", Audiences: aud}, "https"},
		{"no host", Options{Issuer: "https://", Audiences: aud}, "https"},
		{"no URL", Options{Issuer: "https://%zz", Audiences: aud}, "issuer"},
		{"an issuer with a query", Options{Issuer: "https://issuer.example?x=1", Audiences: aud}, "query"},
		{"an issuer with a fragment", Options{Issuer: "https://issuer.example#x", Audiences: aud}, "fragment"},
		{"a password in a URL", Options{Issuer: "https://issuer.example", JWKS: "https://u:hidden@keys.example", Audiences: aud}, "user"},
		{"keys over http", Options{Issuer: "https://issuer.example", JWKS: "http://keys.example", Audiences: aud}, "https"},
		{"no audience: tokens for any service would do", Options{Issuer: "https://issuer.example"}, "audience"},
		{"an empty audience", Options{Issuer: "https://issuer.example", Audiences: []string{""}}, "audience"},
		{"an empty role", Options{Issuer: "https://issuer.example", Audiences: aud, ReaderRoles: []string{""}}, "role"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v, err := newVerifier(t.Context(), tt.options)
			switch {
			case tt.reason == "" && (err != nil || v == nil):
				t.Error(err)
			case tt.reason != "" && (err == nil || !strings.Contains(err.Error(), tt.reason)):
				t.Errorf("%v, want an error that says %q", err, tt.reason)
			case err != nil && strings.Contains(err.Error(), "hidden"):
				t.Errorf("the error shows a password: %v", err)
			}
		})
	}
}

// TestOptions checks that every option has an effect.
func TestOptions(t *testing.T) {
	t.Parallel()
	is, c := newIssuer(t, ecSigner()), newClock()
	var through counter
	v := patient(t, t.Context(), Options{
		Issuer:           "https://issuer.example/{tenant}",
		Audiences:        []string{"tables"},
		JWKS:             is.url + "/keys",
		RolesClaim:       "groups",
		ReaderRoles:      []string{"readers"},
		ContributorRoles: []string{"writers"},
		HTTP:             &http.Client{Transport: &through},
		Now:              c.now,
	})
	claims := is.claims(c, map[string]any{"iss": "https://issuer.example/{tenant}", "aud": "tables"})
	for _, tt := range []struct {
		groups any
		role   role
	}{
		{[]string{"readers"}, reader},
		{[]string{"others", "writers"}, contributor},
		{nil, none}, // the option RolesClaim is "groups" here, so the verifier ignores the claim "roles"
		{[]string{"Storage Table Data Reader"}, none},
	} {
		claims["groups"] = tt.groups
		id, err := v.identify(t.Context(), ecSigner().sign(claims))
		if id.Role != tt.role || (tt.role == none) != errors.Is(err, errNoRole) {
			t.Errorf("groups %v: role %v, %v; want %v", tt.groups, id.Role, err, tt.role)
		}
	}
	if through.n != 1 || is.discoveries.Load() != 0 {
		t.Errorf("%d requests through the client, %d discoveries; want 1 and 0", through.n, is.discoveries.Load())
	}
}

type counter struct{ n int }

func (c *counter) RoundTrip(req *http.Request) (*http.Response, error) {
	c.n++
	return http.DefaultTransport.RoundTrip(req)
}

// TestShortKey checks that a token is refused if an RSA key that is too short signed it, even if the issuer
// publishes the key.
func TestShortKey(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	short := signer{"short", jose.RS256, must(key, err)}
	is, c := newIssuer(t, short, ecSigner()), newClock()
	want(t, is.verifier(t, c), short.sign(is.claims(c, nil)), errKey, "a key of 1024 bits")
}
