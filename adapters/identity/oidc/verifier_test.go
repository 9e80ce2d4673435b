package oidc

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"
)

func TestVerify(t *testing.T) {
	t.Parallel()
	keyless := newEC("")
	is, c := newIssuer(t, rsaSigner(), ecSigner(), edSigner(), keyless), newClock()
	v := is.verifier(t, c)
	pss := rsaSigner()
	pss.alg, pss.kid = jose.PS256, "pss"
	is.mu.Lock()
	is.keys = append(is.keys, pss.public())
	is.mu.Unlock()

	type change = map[string]any
	for _, tt := range []struct {
		name   string
		signer signer
		change change
		want   func(*identity)
	}{
		{"RS256", rsaSigner(), nil, nil},
		{"PS256", pss, nil, nil},
		{"ES256", ecSigner(), nil, nil},
		{"EdDSA", edSigner(), nil, nil},
		{"no key id: any key of the issuer will do", keyless, nil, nil},
		{"several audiences, one of them ours", ecSigner(), change{"aud": []string{"x", audience}}, func(id *identity) { id.Audience = []string{"x", audience} }},
		{"issuers other than Entra have no oid and tid", ecSigner(), change{"oid": nil, "tid": nil},
			func(id *identity) { id.ObjectID, id.TenantID = "subject", "" }},
		{"no sub, as in tokens of an application", ecSigner(), change{"sub": nil}, nil},
		{"nbf and iat are optional", ecSigner(), change{"nbf": nil, "iat": nil}, nil},
		{"the issuer's clock may be a minute ahead", ecSigner(), change{"nbf": c.in(time.Minute), "iat": c.in(time.Minute)}, nil},
		{"good for one more second", ecSigner(), change{"exp": c.in(time.Second)},
			func(id *identity) { id.Expiry = c.now().Add(time.Second) }},
		{"exp with a fraction, which is legal and dropped", ecSigner(), change{"exp": float64(c.in(time.Minute)) + 0.75},
			func(id *identity) { id.Expiry = c.now().Add(time.Minute) }},
		{"reader", ecSigner(), change{"roles": []string{"Storage Table Data Reader"}}, func(id *identity) { id.Role = reader }},
		{"reader's short form", ecSigner(), change{"roles": []string{"StorageTableDataReader"}}, func(id *identity) { id.Role = reader }},
		{"contributor's short form", ecSigner(), change{"roles": []string{"StorageTableDataContributor"}}, nil},
		{"both roles: the greater counts", ecSigner(), change{"roles": []string{"Storage Table Data Contributor", "Storage Table Data Reader"}}, nil},
		{"both roles, the other way round", ecSigner(), change{"roles": []string{"Storage Table Data Reader", "Storage Table Data Contributor"}}, nil},
		{"one role that is not in a list", ecSigner(), change{"roles": "Storage Table Data Contributor"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := identity{ObjectID: "object", TenantID: "tenant", Audience: []string{audience}, Role: contributor, Expiry: c.now().Add(time.Hour)}
			if tt.want != nil {
				tt.want(&want)
			}
			token := tt.signer.sign(is.claims(c, tt.change))
			for _, when := range []string{"the first time", "remembered"} {
				got, err := v.identify(t.Context(), token)
				if err != nil {
					t.Fatalf("%s: %v", when, err)
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%s: -want +got\n%s", when, d)
				}
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	is, c := newIssuer(t, rsaSigner(), ecSigner()), newClock()
	v := is.verifier(t, c)
	// These further keys must not be accepted: a shared secret and a private key that the issuer published by
	// mistake, and an encryption key.
	secret := []byte("0123456789abcdef0123456789abcdef")
	leaked := newEC("leaked")
	enc := newEC("enc")
	encPublic := enc.public()
	encPublic.Use = "enc"
	is.mu.Lock()
	is.keys = append(is.keys, jose.JSONWebKey{Key: secret, KeyID: "oct"}, jose.JSONWebKey{Key: leaked.key, KeyID: "leaked"}, encPublic)
	is.mu.Unlock()

	with := func(change map[string]any) string { return ecSigner().sign(is.claims(c, change)) }
	good := with(nil)
	parts := strings.Split(good, ".")
	segment := func(v any) string { return base64.RawURLEncoding.EncodeToString(must(json.Marshal(v))) }
	der := must(x509.MarshalPKIXPublicKey(&rsaSigner().key.(*rsa.PrivateKey).PublicKey))
	publicPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	forged := newEC("ec") // an attacker's key with the id of the issuer's key
	embedding := must(jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: forged.key}}, &jose.SignerOptions{EmbedJWK: true}))

	for _, tt := range []struct {
		name, token string
		want        error
	}{
		{"nothing", "", errMalformed},
		{"garbage", "garbage", errMalformed},
		{"three parts of garbage", "a.b.c", errMalformed},
		{"no signature part", parts[0] + "." + parts[1], errMalformed},
		{"a part too many", good + ".x", errMalformed},
		{"claims that are no object", ecSigner().sign([]string{"x"}), errMalformed},
		{"as JSON instead of the compact form", `{"protected":"` + parts[0] + `","payload":"` + parts[1] + `","signature":"` + parts[2] + `"}`, errMalformed},
		{"longer than the limit", with(map[string]any{"x": strings.Repeat("x", maxToken)}), errMalformed},
		{"a claim of the wrong type", with(map[string]any{"oid": 7}), errMalformed},
		{"a claim given twice", ecSigner().sign(json.RawMessage(`{"iss":"` + is.url + `","iss":"x"}`)), errMalformed},
		{"a time beyond all times, which must not wrap to the past", with(map[string]any{"nbf": 1e19}), errMalformed},

		{"alg none", segment(map[string]string{"alg": "none"}) + "." + parts[1] + ".", errAlgorithm},
		{"alg none with a signature", segment(map[string]string{"alg": "none", "kid": "ec"}) + "." + parts[1] + "." + parts[2], errAlgorithm},
		{"alg None: names are taken to the letter", segment(map[string]string{"alg": "None"}) + "." + parts[1] + ".", errAlgorithm},
		{"no alg", segment(map[string]string{"kid": "ec"}) + "." + parts[1] + "." + parts[2], errAlgorithm},
		{"HS256 with the public key as the secret", signer{"rsa", jose.HS256, publicPEM}.sign(is.claims(c, nil)), errAlgorithm},
		{"HS256 with a secret that the issuer published", signer{"oct", jose.HS256, secret}.sign(is.claims(c, nil)), errAlgorithm},

		{"signed with another key under a known id", forged.sign(is.claims(c, nil)), errSignature},
		{"a good signature of other claims", parts[0] + "." + segment(is.claims(c, map[string]any{"name": "Eve"})) + "." + parts[2], errSignature},
		{"an empty signature", parts[0] + "." + parts[1] + ".", errSignature},
		{"the algorithm of another kind of key", signer{"rsa", jose.ES256, ecSigner().key}.sign(is.claims(c, nil)), errSignature},
		{"an algorithm the key is not published for", signer{"rsa", jose.PS256, rsaSigner().key}.sign(is.claims(c, nil)), errSignature},
		{"the key in the token's own header", must(must(embedding.Sign(must(json.Marshal(is.claims(c, nil))))).CompactSerialize()), errKey},
		{"a key the issuer does not have", newEC("new").sign(is.claims(c, nil)), errKey},
		{"a key that everybody has", leaked.sign(is.claims(c, nil)), errKey},
		{"a key for encryption", enc.sign(is.claims(c, nil)), errKey},
		{"no key id, and none of the keys", newEC("").sign(is.claims(c, nil)), errKey},

		{"another issuer", with(map[string]any{"iss": "https://evil.example"}), errIssuer},
		{"the issuer but for a slash", with(map[string]any{"iss": is.url + "/"}), errIssuer},
		{"no issuer", with(map[string]any{"iss": nil}), errIssuer},
		{"another audience", with(map[string]any{"aud": "https://graph.example"}), errAudience},
		{"no audience of several", with(map[string]any{"aud": []string{"a", "b"}}), errAudience},
		{"the audience but for a slash", with(map[string]any{"aud": audience + "/"}), errAudience},
		{"no audience", with(map[string]any{"aud": nil}), errAudience},
		{"expired this second", with(map[string]any{"exp": c.in(0)}), errExpired},
		{"expired long ago", with(map[string]any{"exp": 1}), errExpired},
		{"no expiry: it would be good for ever", with(map[string]any{"exp": nil}), errMalformed},
		{"not valid yet", with(map[string]any{"nbf": c.in(61 * time.Second)}), errNotYet},
		{"issued in the future", with(map[string]any{"iat": c.in(61 * time.Second)}), errNotYet},
		{"nobody", with(map[string]any{"sub": nil, "oid": nil}), errMalformed},

		{"no roles", with(map[string]any{"roles": nil}), errNoRole},
		{"an empty list of roles", with(map[string]any{"roles": []string{}}), errNoRole},
		{"roles for something else", with(map[string]any{"roles": []string{"Storage Blob Data Contributor", "Contributor"}}), errNoRole},
		{"a role in other letters", with(map[string]any{"roles": []string{"storage table data reader"}}), errNoRole},
		{"roles in one string", with(map[string]any{"roles": "StorageTableDataReader StorageTableDataContributor"}), errNoRole},
		{"roles of no kind that is known", with(map[string]any{"roles": map[string]bool{"StorageTableDataReader": true}}), errNoRole},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for range 2 { // the second verification of a token gets the remembered result, which must be the same
				id, err := v.identify(t.Context(), tt.token)
				if !errors.Is(err, tt.want) {
					t.Fatalf("%v, want %v", err, tt.want)
				}
				if (id.ObjectID == "") == errors.Is(err, errNoRole) {
					t.Errorf("identity %+v with error %v", id, err)
				}
				if len(tt.token) > 20 && strings.Contains(err.Error(), tt.token[:20]) {
					t.Errorf("the error quotes the token: %v", err)
				}
			}
		})
	}
}

// TestExpiryOfTheRemembered checks that a token that was verified before is refused once it has expired.
func TestExpiryOfTheRemembered(t *testing.T) {
	t.Parallel()
	is, c := newIssuer(t, ecSigner()), newClock()
	v := is.verifier(t, c)
	token := ecSigner().sign(is.claims(c, map[string]any{"exp": c.in(5 * time.Minute)}))
	if _, err := v.identify(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	c.forward(5 * time.Minute)
	if _, err := v.identify(t.Context(), token); !errors.Is(err, errExpired) {
		t.Errorf("%v, want ErrExpired", err)
	}
}

// TestRememberedIsBounded checks that tokens are still verified when the maximum number of tokens is remembered, and
// that refused tokens are not remembered.
func TestRememberedIsBounded(t *testing.T) {
	t.Parallel()
	is, c := newIssuer(t, edSigner()), newClock()
	v := is.verifier(t, c)
	for i := range maxVerified + 50 {
		if _, err := v.identify(t.Context(), edSigner().sign(is.claims(c, map[string]any{"jti": strconv.Itoa(i)}))); err != nil {
			t.Fatal(err)
		}
		if got, want := v.remembered(), min(i+1, maxVerified); got != want {
			t.Fatalf("%d tokens remembered after %d, want %d", got, i+1, want)
		}
	}
	v.forget()
	bad := newEC("ed")
	for i := range 3 {
		if _, err := v.identify(t.Context(), bad.sign(is.claims(c, map[string]any{"jti": strconv.Itoa(i)}))); err == nil {
			t.Fatal("accepted")
		}
	}
	if n := v.remembered(); n != 0 {
		t.Errorf("%d refused tokens remembered", n)
	}
}
