package oidc

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// FuzzVerify checks that arbitrary tokens do not crash the server and are not quoted in errors. Only claims that the
// issuer has signed may be accepted. The seeds are signed with edSigner's fixed key at the time of the fixed clock.
func FuzzVerify(f *testing.F) {
	const name = "https://issuer.example"
	published := must(json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{edSigner().public()}}))
	v, err := newVerifier(f.Context(), Options{
		Issuer: name, Audiences: []string{audience}, JWKS: name + "/keys", Now: newClock().now,
		HTTP: &http.Client{Transport: http.NewFileTransportFS(fstest.MapFS{"keys": {Data: published}})},
	})
	if err != nil {
		f.Fatal(err)
	}
	good := edSigner().sign((&issuer{url: name}).claims(newClock(), nil))
	if _, err := v.identify(f.Context(), good); err != nil {
		f.Fatalf("the target would refuse everything: %v", err)
	}
	f.Fuzz(func(t *testing.T, token string) {
		id, err := v.identify(t.Context(), token)
		signed := identity{ObjectID: "object", TenantID: "tenant", Audience: []string{audience}, Role: contributor, Expiry: time.Unix(1_800_003_600, 0)}
		switch {
		case err == nil && !reflect.DeepEqual(id, signed):
			t.Errorf("%+v was never signed", id)
		case err != nil && len(token) > 20 && strings.Contains(err.Error(), token):
			t.Errorf("the error quotes the token: %v", err)
		}
	})
}
