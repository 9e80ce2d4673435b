package clients_test

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

const (
	audience    = "https://storage.azure.com"
	reader      = "Storage Table Data Reader"
	contributor = "Storage Table Data Contributor"
)

// issuer is an OpenID Connect issuer with one RSA key.
type issuer struct {
	url string
	key *rsa.PrivateKey
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	is := &issuer{key: key}
	mux := http.NewServeMux()
	answer := func(path string, document func() any) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if err := json.NewEncoder(w).Encode(document()); err != nil {
				t.Errorf("issuer: %v", err)
			}
		})
	}
	answer("/.well-known/openid-configuration", func() any {
		return map[string]string{"issuer": is.url, "jwks_uri": is.url + "/keys"}
	})
	answer("/keys", func() any {
		return map[string]any{"keys": []any{map[string]string{
			"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "only",
			"n": base64url(key.N.Bytes()), "e": base64url(big.NewInt(int64(key.E)).Bytes()),
		}}}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	is.url = server.URL
	return is
}

func base64url(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// token returns a token of a user. The parameter other replaces claims; a claim with the value nil is
// omitted.
func (is *issuer) token(t *testing.T, roles []string, other map[string]any) string {
	t.Helper()
	now := time.Now().Unix()
	claims := map[string]any{
		"iss": is.url, "aud": audience, "iat": now, "nbf": now, "exp": now + 3600,
		"oid": "6ac9a7cd-52f4-4be0-b1e4-1b2f8a8e5d42", "tid": "e2a3c7a6-6a3c-4b0c-9d5a-0d4ed0a8b7b1", "roles": roles,
	}
	maps.Copy(claims, other)
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	signed := base64url(encode(t, fields{"typ": "JWT", "alg": "RS256", "kid": "only"})) + "." + base64url(encode(t, claims))
	digest := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, is.key, crypto.SHA256, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return signed + "." + base64url(signature)
}

// bearer is a credential for the SDK that always returns this token.
type bearer string

func (b bearer) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: string(b), ExpiresOn: time.Now().Add(time.Hour)}, nil
}
