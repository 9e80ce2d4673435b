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

// Options configure a [Verifier]. Issuer and Audiences must be given.
type Options struct {
	// Issuer is what tokens must have as iss, for instance
	// "https://sts.windows.net/{tenant}/"; every character counts, a slash at the
	// end too. It must be an https URL; http is allowed on a loopback host, for
	// development.
	Issuer string
	// Audiences are the accepted values of aud, for instance
	// "https://storage.azure.com". Without this check a token for any other service
	// of the same issuer would do, so there must be at least one.
	Audiences []string
	// JWKS is the URL of the issuer's key set, with the same rule for http. By
	// default {Issuer}/.well-known/openid-configuration says where it is.
	JWKS string
	// RolesClaim is the claim that holds the roles, a string or a list of them;
	// "roles" by default. A string is one role, blanks included.
	RolesClaim string
	// ReaderRoles and ContributorRoles are the values of that claim that let read,
	// and read and write. The package documentation has the defaults.
	ReaderRoles, ContributorRoles []string
	// HTTP is the client for reading from the issuer. The verifier uses a copy, which
	// follows redirects only to where Issuer and JWKS may point.
	HTTP *http.Client
	// Now is the clock; time.Now by default.
	Now func() time.Time
	// Log says why the keys cannot be read, and when they can be again. Clients are
	// only asked to retry. nil does not log.
	Log *slog.Logger
}

// asymmetric are the algorithms that are accepted, those that need no secret to
// verify. With an HMAC among them, anybody who can read the public key could
// sign.
var asymmetric = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512,
	jose.PS256, jose.PS384, jose.PS512,
	jose.ES256, jose.ES384, jose.ES512,
	jose.EdDSA,
}

// source is where the keys are read from.
func (o *Options) source() (*source, error) {
	s := &source{issuer: o.Issuer, jwks: o.JWKS}
	for _, configured := range []struct{ name, url string }{{"issuer", o.Issuer}, {"key set", o.JWKS}} {
		if configured.url == "" && configured.name == "key set" {
			continue
		}
		u, err := url.Parse(configured.url)
		switch {
		case configured.url == "":
			return nil, errors.New("oidc: no issuer: name the one whose tokens are accepted")
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

// loopback says whether a host is this machine.
func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}
