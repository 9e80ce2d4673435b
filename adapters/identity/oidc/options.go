package oidc

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Options configure a [Verifier]. Issuer and Audiences are required.
type Options struct {
	// Issuer is the required claim iss of tokens, such as "https://sts.windows.net/{tenant}/". Tokens must contain
	// exactly this URL. It must use https, or http on a loopback host.
	Issuer string
	// Audiences contains the accepted values of the claim aud. At least one is required, because the issuer also issues
	// tokens for other services.
	Audiences []string
	// JWKS is the URL of the issuer's key set. The default comes from {Issuer}/.well-known/openid-configuration. The
	// URL must use https, or http on a loopback host.
	JWKS string
	// RolesClaim is the claim that contains the roles: a list of strings, or one string with one role. The default is
	// "roles".
	RolesClaim string
	// ReaderRoles are the roles that permit reading. ContributorRoles are the roles that permit reading and writing.
	// The package documentation lists the defaults.
	ReaderRoles, ContributorRoles []string
	// HTTP is the client for requests to the issuer; nil means a default client. The verifier follows redirects only to
	// https URLs, or to http URLs of loopback hosts if Issuer or JWKS is one.
	HTTP *http.Client
	// Now returns the current time. A nil Now means time.Now.
	Now func() time.Time
	// Log receives the reason why the keys cannot be read, and a message when they can be read again. A nil Log
	// disables logging.
	Log *slog.Logger
}

// asymmetric lists the accepted algorithms. HMAC must not be accepted: with it, anyone who can read the public key
// could sign.
var asymmetric = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512,
	jose.PS256, jose.PS384, jose.PS512,
	jose.ES256, jose.ES384, jose.ES512,
	jose.EdDSA,
}

func (o *Options) source() (*source, error) {
	s := &source{issuer: o.Issuer, jwks: o.JWKS}
	for _, configured := range []struct{ name, url string }{{"issuer", o.Issuer}, {"key set", o.JWKS}} {
		if configured.url == "" && configured.name == "key set" {
			continue
		}
		u, err := url.Parse(configured.url)
		switch {
		case configured.url == "":
			return nil, errors.New("oidc: no issuer: name the issuer whose tokens are accepted")
		case err != nil:
			return nil, fmt.Errorf("oidc: %s: %w", configured.name, err)
		case u.Scheme == "https" && u.Host != "":
		case u.Scheme == "http" && loopback(u.Hostname()):
			s.plain = true
		default:
			return nil, fmt.Errorf("oidc: %s %q: must be an https URL (http is for loopback hosts only)", configured.name, u.Redacted())
		}
		if u.User != nil || u.Fragment != "" || configured.name == "issuer" && u.RawQuery != "" {
			return nil, fmt.Errorf("oidc: %s %q: must have no user, query or fragment", configured.name, u.Redacted())
		}
	}
	if o.HTTP != nil {
		s.client = *o.HTTP
	}
	follow := s.client.CheckRedirect
	s.client.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		switch {
		case !s.allowed(req.URL):
			return errors.New("redirected to a URL that is not https")
		case follow != nil:
			return follow(req, via)
		case len(via) >= 3:
			return errors.New("redirected too often")
		}
		return nil
	}
	return s, nil
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}
