package oidc

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

func want(t *testing.T, v *Verifier, token string, want error, why string) {
	t.Helper()
	if _, err := v.identify(t.Context(), token); !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", why, err, want)
	}
}

func TestRotation(t *testing.T) {
	t.Parallel()
	is, c := newIssuer(t, ecSigner()), newClock()
	v := is.verifier(t, c)
	next := newEC("next")
	before, after := ecSigner().sign(is.claims(c, nil)), next.sign(is.claims(c, nil))

	want(t, v, before, nil, "the first key")
	is.publish(ecSigner(), next)
	want(t, v, after, errKey, "the keys were read this second")
	c.forward(pause)
	want(t, v, after, nil, "a key id not seen before lets the keys be read again")
	want(t, v, before, nil, "the first key is still there")
	if n := is.sets.Load(); n != 2 {
		t.Errorf("the key set was read %d times, want 2", n)
	}
}

// TestWithdrawnKey checks that a key stops working an hour after the issuer has withdrawn it, even for remembered
// tokens.
func TestWithdrawnKey(t *testing.T) {
	t.Parallel()
	is, c := newIssuer(t, ecSigner(), edSigner()), newClock()
	v := is.verifier(t, c)
	day := map[string]any{"exp": c.in(48 * time.Hour)}
	withdrawn, unknown := ecSigner().sign(is.claims(c, day)), newEC("unknown").sign(is.claims(c, day))
	want(t, v, withdrawn, nil, "published")
	<-is.asked
	is.publish(edSigner())
	c.forward(refresh - time.Second)
	want(t, v, withdrawn, nil, "the keys are not an hour old")
	c.forward(time.Second)
	want(t, v, withdrawn, nil, "the keys are read in the background: nobody waits")
	<-is.asked
	want(t, v, unknown, errKey, "waits for the keys, should they not be there yet")
	want(t, v, withdrawn, errKey, "withdrawn")
	want(t, v, edSigner().sign(is.claims(c, day)), nil, "the other key")
}

// TestFlood checks that clients with invalid tokens cause at most one request to the issuer in ten seconds (pause).
// Valid tokens must still be accepted.
func TestFlood(t *testing.T) {
	t.Parallel()
	is, c := newIssuer(t, ecSigner()), newClock()
	v := is.verifier(t, c)
	good := ecSigner().sign(is.claims(c, nil))
	stranger := newEC("")
	flood := func() {
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				for i := range 25 {
					stranger := stranger
					stranger.kid = strconv.Itoa(g*25 + i)
					want(t, v, stranger.sign(is.claims(c, nil)), errKey, "made up key id")
					stranger.kid = "ec"
					want(t, v, stranger.sign(is.claims(c, nil)), errSignature, "known key id")
					want(t, v, good, nil, "a good token")
				}
			})
		}
		wg.Wait()
	}
	for round := int64(1); round <= 3; round++ {
		flood()
		if n, m := is.sets.Load(), is.discoveries.Load(); n != round || m != round {
			t.Errorf("round %d: keys were read %d times, discovery %d times", round, n, m)
		}
		c.forward(pause)
	}
}

// TestKnownKeyNeverAsks checks that only a token with an unknown key id causes a request to the issuer.
func TestKnownKeyNeverAsks(t *testing.T) {
	t.Parallel()
	is, c := newIssuer(t, ecSigner()), newClock()
	v := is.verifier(t, c)
	forged := newEC("ec")
	for range 3 {
		want(t, v, forged.sign(is.claims(c, nil)), errSignature, "forged")
		c.forward(pause)
	}
	for range 3 {
		want(t, v, newEC("new").sign(is.claims(c, map[string]any{"iss": "https://other.example"})), errIssuer, "of another issuer")
		c.forward(pause)
	}
	if n := is.sets.Load(); n != 1 {
		t.Errorf("the key set was read %d times, want once", n)
	}
}

func TestIssuerDown(t *testing.T) {
	t.Parallel()
	is, c := newIssuer(t, ecSigner()), newClock()
	down := func(w http.ResponseWriter, _ *http.Request) {
		is.sets.Add(1)
		w.WriteHeader(http.StatusBadGateway)
	}
	is.answer(down)
	v := is.verifier(t, c) // creating a verifier succeeds although the issuer is down
	token := ecSigner().sign(is.claims(c, map[string]any{"exp": c.in(72 * time.Hour)}))
	unknown := newEC("unknown").sign(is.claims(c, map[string]any{"exp": c.in(72 * time.Hour)}))

	want(t, v, token, errUnavailable, "down")
	want(t, v, token, errUnavailable, "still down, and not asked again")
	if n := is.sets.Load(); n != 1 {
		t.Errorf("asked %d times, want once", n)
	}
	want(t, v, "garbage", errMalformed, "what is wrong anyway needs no keys")
	is.answer(nil)
	want(t, v, token, errUnavailable, "up again, but not asked yet")
	c.forward(retry)
	want(t, v, token, nil, "up again")

	is.answer(down)
	c.forward(pause)
	want(t, v, unknown, errUnavailable, "the key may be a new one, nobody knows")
	want(t, v, token, nil, "the keys at hand serve on")
	c.forward(hold - pause - time.Second)
	want(t, v, token, nil, "for a day")
	c.forward(time.Second)
	want(t, v, token, errUnavailable, "and no longer")
	is.answer(nil)
	c.forward(retry)
	want(t, v, token, nil, "up again")
}

// TestOneAttempt checks that many tokens that wait for the keys cause only one attempt to read the keys.
func TestOneAttempt(t *testing.T) {
	t.Parallel()
	is, c := newIssuer(t, ecSigner()), newClock()
	v := is.verifier(t, c)
	token := ecSigner().sign(is.claims(c, nil))
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() { want(t, v, token, nil, "cold") })
	}
	wg.Wait()
	if n := is.sets.Load(); n != 1 {
		t.Errorf("the key set was read %d times, want once", n)
	}
}

// TestCallerLeaves checks that a caller that waits for the issuer can be canceled, while the attempt continues for
// other callers.
func TestCallerLeaves(t *testing.T) {
	t.Parallel()
	is, c := newIssuer(t, ecSigner()), newClock()
	asked, release := make(chan struct{}, 2), make(chan struct{})
	is.answer(func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-release
		is.answer(nil)
		http.Redirect(w, r, r.URL.Path, http.StatusFound)
	})
	v := is.verifier(t, c)
	token := ecSigner().sign(is.claims(c, nil))
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := v.identify(ctx, token)
		left <- err
	}()
	<-asked
	cancel()
	if err := <-left; !errors.Is(err, errUnavailable) || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want ErrUnavailable by context.Canceled", err)
	}
	close(release)
	want(t, v, token, nil, "the same attempt")
	if n := is.discoveries.Load(); n != 1 {
		t.Errorf("%d attempts, want one", n)
	}
}

// TestKeysGoMeanwhile checks a token while the issuer is down. The issuer's keys become too old during the verification
// of the token. This happens after the check of the keys' age and before the lookup of the token's key.
func TestKeysGoMeanwhile(t *testing.T) {
	t.Parallel()
	is, c := newIssuer(t, ecSigner()), newClock()
	claims := is.claims(c, map[string]any{"exp": c.in(2 * hold)})
	good := ecSigner().sign(claims)
	var calls int // number of calls of the function Now; the verifier makes the third call when it checks the token's expiry
	var v *Verifier
	v = patient(t, t.Context(), Options{Issuer: is.url, Audiences: []string{audience}, Now: func() time.Time {
		if calls++; calls == 3 {
			is.answer(http.NotFound)
			c.forward(hold)
			want(t, v, good, errUnavailable, "the keys are too old")
		}
		return c.now()
	}})
	calls = 3
	want(t, v, good, nil, "at first")
	calls = 0
	want(t, v, newEC("new").sign(claims), errUnavailable, "there are no keys any more")
}

// TestBadDocuments checks invalid documents of the issuer. The error must contain the reason, which the operator needs.
func TestBadDocuments(t *testing.T) {
	t.Parallel()
	document := func(v any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, v) }
	}
	set := func(v any) func(*issuer) http.HandlerFunc {
		return func(is *issuer) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/keys" {
					writeJSON(w, v)
				} else {
					writeJSON(w, map[string]string{"issuer": is.url, "jwks_uri": is.url + "/keys"})
				}
			}
		}
	}
	many := make([]any, maxKeys+1)
	for _, tt := range []struct {
		name    string
		handler func(*issuer) http.HandlerFunc
		reason  string
	}{
		{"an error", func(*issuer) http.HandlerFunc { return http.NotFound }, "answered 404"},
		{"no JSON", func(*issuer) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }
		}, "invalid character"},
		{"a document of another issuer", func(is *issuer) http.HandlerFunc {
			return document(map[string]string{"issuer": "https://evil.example", "jwks_uri": is.url + "/keys"})
		}, "another issuer"},
		{"keys over http from elsewhere", func(is *issuer) http.HandlerFunc {
			return document(map[string]string{"issuer": is.url, "jwks_uri": "http://192.0.2.1/keys"})
		}, "not an https URL"},
		{"no address of keys", func(is *issuer) http.HandlerFunc { return document(map[string]string{"issuer": is.url}) }, "not an https URL"},
		{"a redirect to http elsewhere", func(*issuer) http.HandlerFunc {
			return http.RedirectHandler("http://192.0.2.1/keys", http.StatusFound).ServeHTTP
		}, "not https"},
		{"a redirect without end", func(*issuer) http.HandlerFunc { return http.RedirectHandler("/", http.StatusFound).ServeHTTP }, "redirected too often"},
		{"more than a key set ever is", set(strings.Repeat("x", maxDocument)), "too large"},
		{"too many keys", set(map[string]any{"keys": many}), "the maximum is 128"},
		{"no keys", set(map[string]any{"keys": []any{}}), "no public key"},
		{"no list of keys", set(map[string]any{}), "no public key"},
		{"only keys nobody knows how to use", set(map[string]any{"keys": []any{map[string]string{"kty": "FUTURE"}, 7}}), "no public key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			is, c := newIssuer(t), newClock()
			is.answer(tt.handler(is))
			_, err := is.verifier(t, c).identify(t.Context(), ecSigner().sign(is.claims(c, nil)))
			if !errors.Is(err, errUnavailable) || !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("%v, want ErrUnavailable that says %q", err, tt.reason)
			}
		})
	}
}

// TestReady checks that Ready reports a mistake in the options before a token arrives, and that it sends only one
// request.
func TestReady(t *testing.T) {
	t.Parallel()
	c := newClock()
	is := newIssuer(t, ecSigner())
	v := is.verifier(t, c)
	for range 3 {
		if err := v.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := is.sets.Load(); n != 1 {
		t.Errorf("the keys were read %d times", n)
	}
	is.answer(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "down", 500) })
	if err := is.verifier(t, c).Ready(t.Context()); !errors.Is(err, errUnavailable) {
		t.Errorf("of an issuer that is down: %v", err)
	}
}
