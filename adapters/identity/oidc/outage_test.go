package oidc

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// outage simulates the network of an issuer, whose keys can only be read after a given time.
type outage struct {
	since time.Time
	asked []time.Time
	keys  http.RoundTripper
}

func (o *outage) RoundTrip(r *http.Request) (*http.Response, error) {
	o.asked = append(o.asked, time.Now())
	if time.Now().Before(o.since) {
		return nil, errors.New("connection refused")
	}
	return o.keys.RoundTrip(r)
}

// TestIssuerDownAtStart checks that clients that retry for six seconds succeed, although the issuer starts after the
// server. Clients with invalid tokens must cause no additional requests to the issuer.
func TestIssuerDownAtStart(t *testing.T) {
	t.Parallel()
	const name = "https://issuer.example"
	published := must(json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{edSigner().public()}}))
	synctest.Test(t, func(t *testing.T) {
		const down = 30*time.Second + 100*time.Millisecond
		start := time.Now()
		is := &outage{since: start.Add(down), keys: http.NewFileTransportFS(fstest.MapFS{"keys": {Data: published}})}
		var log bytes.Buffer
		v := must(newVerifier(t.Context(), Options{
			Issuer: name, Audiences: []string{audience}, JWKS: name + "/keys",
			HTTP: &http.Client{Transport: is}, Log: slog.New(slog.NewTextHandler(&log, nil)),
		}))
		claims := (&issuer{url: name}).claims(newClock(), map[string]any{
			"iat": start.Unix(), "nbf": start.Unix(), "exp": start.Add(time.Hour).Unix(),
		})
		token := edSigner().sign(claims)
		for time.Since(start) < down {
			want(t, v, token, errUnavailable, "down")
			time.Sleep(50 * time.Millisecond)
		}
		for i := range is.asked[1:] {
			if gap := is.asked[i+1].Sub(is.asked[i]); gap < retry {
				t.Errorf("the issuer was asked again after %v", gap)
			}
		}
		time.Sleep(retry)
		want(t, v, token, nil, "it has been up for a second")
		said := log.String()
		if n := strings.Count(said, "connection refused"); n != 4 {
			t.Errorf("the log says %d times in 30 s what is wrong:\n%s", n, said)
		}
		if n := strings.Count(said, "can be read again"); n != 1 {
			t.Errorf("the log says %d times that it is over:\n%s", n, said)
		}
	})
}
