package oidc

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

const (
	maxDocument = 1 << 20 // maximum size of an answer of the issuer in bytes
	maxKeys     = 128     // maximum number of keys in a key set; large issuers have about ten
)

type source struct {
	issuer, jwks string
	plain        bool // http on loopback is allowed, because a configured URL uses it
	client       http.Client
}

func (s *source) allowed(u *url.URL) bool {
	return u.Scheme == "https" || s.plain && u.Scheme == "http" && loopback(u.Hostname())
}

func (s *source) read(ctx context.Context) ([]jose.JSONWebKey, error) {
	address := s.jwks
	if address == "" {
		var err error
		if address, err = s.discover(ctx); err != nil {
			return nil, err
		}
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := s.get(ctx, address, &set); err != nil {
		return nil, fmt.Errorf("key set: %w", err)
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("key set: has %d keys; the maximum is %d", len(set.Keys), maxKeys)
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys {
		// RFC 7517 section 5 requires unknown keys to be skipped. The set may contain kinds of keys that do not exist
		// yet.
		var key jose.JSONWebKey
		if json.Unmarshal(raw, &key) == nil && isSigningKey(&key) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("key set: holds no public key that verifies signatures")
	}
	return keys, nil
}

// isSigningKey reports whether a key can be used to verify signatures. It rejects private keys, shared keys, encryption
// keys, and RSA keys below 2048 bits (RFC 7518 section 3.3).
func isSigningKey(key *jose.JSONWebKey) bool {
	if k, ok := key.Key.(*rsa.PublicKey); ok && k.N.BitLen() < 2048 {
		return false
	}
	return key.IsPublic() && key.Valid() && (key.Use == "" || key.Use == "sig")
}

// discover returns the URL of the issuer's keys, which it reads from the issuer.
func (s *source) discover(ctx context.Context) (string, error) {
	var document struct {
		Issuer string `json:"issuer"`
		JWKS   string `json:"jwks_uri"`
	}
	if err := s.get(ctx, strings.TrimSuffix(s.issuer, "/")+"/.well-known/openid-configuration", &document); err != nil {
		return "", fmt.Errorf("discovery: %w", err)
	}
	// OpenID Connect Discovery section 4.3 requires this check. Without it, one tenant of an issuer could pretend to be
	// another tenant.
	if document.Issuer != s.issuer {
		return "", errors.New("discovery: the document names another issuer")
	}
	u, err := url.Parse(document.JWKS)
	if err != nil || u.Host == "" || !s.allowed(u) {
		return "", errors.New("discovery: jwks_uri is not an https URL")
	}
	return document.JWKS, nil
}

func (s *source) get(ctx context.Context, address string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %d", address, resp.StatusCode)
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, resp.Body, maxDocument))
	if err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	return nil
}
