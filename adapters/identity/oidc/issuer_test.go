package oidc

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// signer is one of an issuer's keys.
type signer struct {
	kid string
	alg jose.SignatureAlgorithm
	key any
}

// These are the keys of the tests. Each is generated only once, because the generation of RSA keys takes long.
var (
	rsaSigner = sync.OnceValue(func() signer {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		return signer{"rsa", jose.RS256, must(key, err)}
	})
	ecSigner = sync.OnceValue(func() signer { return newEC("ec") })
	// edSigner's key is fixed, so that the seeds of the fuzz target stay valid.
	edSigner = sync.OnceValue(func() signer {
		return signer{"ed", jose.EdDSA, ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))}
	})
)

func newEC(kid string) signer {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return signer{kid, jose.ES256, must(key, err)}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func (s signer) public() jose.JSONWebKey {
	private := jose.JSONWebKey{Key: s.key, KeyID: s.kid, Algorithm: string(s.alg), Use: "sig"}
	return private.Public()
}

// sign returns a token with these claims.
func (s signer) sign(claims any) string {
	opts := new(jose.SignerOptions).WithType("JWT")
	if s.kid != "" {
		opts = opts.WithHeader("kid", s.kid)
	}
	js := must(jose.NewSigner(jose.SigningKey{Algorithm: s.alg, Key: s.key}, opts))
	return must(must(js.Sign(must(json.Marshal(claims)))).CompactSerialize())
}

// issuer is an OpenID Connect issuer on a loopback port.
type issuer struct {
	url               string
	discoveries, sets atomic.Int64  // how often each document was requested
	asked             chan struct{} // receives an element for each request for the key set, unless the channel is full

	mu       sync.Mutex
	override http.HandlerFunc // if not nil, the handler of all requests; otherwise the issuer sends its discovery document and its keys
	keys     []jose.JSONWebKey
}

func newIssuer(t testing.TB, signers ...signer) *issuer {
	is := &issuer{asked: make(chan struct{}, 4)}
	is.publish(signers...)
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		is.discoveries.Add(1)
		writeJSON(w, map[string]string{"issuer": is.url, "jwks_uri": is.url + "/keys"})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		is.sets.Add(1)
		select {
		case is.asked <- struct{}{}:
		default:
		}
		is.mu.Lock()
		defer is.mu.Unlock()
		writeJSON(w, jose.JSONWebKeySet{Keys: is.keys})
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		is.mu.Lock()
		override := is.override
		is.mu.Unlock()
		if override != nil {
			override(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	is.url = server.URL
	return is
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(must(json.Marshal(v)))
}

// publish replaces the published keys.
func (is *issuer) publish(signers ...signer) {
	is.mu.Lock()
	defer is.mu.Unlock()
	is.keys = nil
	for _, s := range signers {
		is.keys = append(is.keys, s.public())
	}
}

// answer sets a handler that answers requests instead of the documents; nil restores the documents.
func (is *issuer) answer(h http.HandlerFunc) {
	is.mu.Lock()
	defer is.mu.Unlock()
	is.override = h
}

// clock is a clock that stands still until a test moves it.
type clock struct{ unix atomic.Int64 }

func newClock() *clock {
	c := new(clock)
	c.unix.Store(1_800_000_000)
	return c
}

func (c *clock) now() time.Time           { return time.Unix(c.unix.Load(), 0) }
func (c *clock) forward(d time.Duration)  { c.unix.Add(int64(d / time.Second)) }
func (c *clock) in(d time.Duration) int64 { return c.unix.Load() + int64(d/time.Second) }

const audience = "https://storage.azure.com"

// claims returns valid claims with changes; a nil value removes a claim.
func (is *issuer) claims(c *clock, changes map[string]any) map[string]any {
	m := map[string]any{
		"iss": is.url, "aud": audience, "sub": "subject", "oid": "object", "tid": "tenant", "name": "Ada",
		"iat": c.in(0), "nbf": c.in(0), "exp": c.in(time.Hour), "roles": []string{"Storage Table Data Contributor"},
	}
	maps.Copy(m, changes)
	maps.DeleteFunc(m, func(_ string, v any) bool { return v == nil })
	return m
}

// verifier returns a verifier that trusts the issuer.
func (is *issuer) verifier(t testing.TB, c *clock) *Verifier {
	t.Helper()
	return patient(t, context.Background(), Options{Issuer: is.url, Audiences: []string{"other", audience}, Now: c.now})
}

// patient returns a verifier that waits for the issuer without a time limit. On a busy machine, real sockets may
// take longer than the verifier's usual limit.
func patient(t testing.TB, ctx context.Context, o Options) *Verifier {
	t.Helper()
	v, err := newVerifier(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	v.keyring.withTimeout = func(ctx context.Context, _ time.Duration) (context.Context, context.CancelFunc) {
		return context.WithCancel(ctx)
	}
	return v
}

// remembered returns how many tokens the verifier remembers.
func (v *Verifier) remembered() int {
	v.keyring.mu.Lock()
	defer v.keyring.mu.Unlock()
	list := &v.keyring.held.verified
	list.mu.RLock()
	defer list.mu.RUnlock()
	return len(list.list)
}

// forget makes the verifier forget the tokens it remembers.
func (v *Verifier) forget() {
	v.keyring.mu.Lock()
	defer v.keyring.mu.Unlock()
	if k := v.keyring.held; k != nil {
		v.keyring.held = &keys{list: k.list, at: k.at}
	}
}
