package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"edgetable/core/protocol"
	"edgetable/core/table"
)

// silent simulates an issuer that accepts requests. While the field hangs is true, the issuer never answers.
type silent struct {
	keys   http.RoundTripper
	hangs  atomic.Bool
	asking atomic.Int64
}

func (s *silent) RoundTrip(r *http.Request) (*http.Response, error) {
	if !s.hangs.Load() {
		return s.keys.RoundTrip(r)
	}
	s.asking.Add(1)
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}

// TestCrowd checks tokens with an unknown key while the issuer does not answer. Only a few of them may wait; the
// others must get 503 at once. All of them must count as failed sign-ins, and valid tokens must not be affected.
func TestCrowd(t *testing.T) {
	t.Parallel()
	const name = "https://issuer.example"
	published := must(json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{edSigner().public()}}))
	synctest.Test(t, func(t *testing.T) {
		is := &silent{keys: http.NewFileTransportFS(fstest.MapFS{"keys": {Data: published}})}
		v := must(newVerifier(t.Context(), Options{
			Issuer: name, Audiences: []string{audience}, JWKS: name + "/keys",
			HTTP: &http.Client{Transport: is}, Log: slog.New(slog.DiscardHandler),
		}))
		claims := (&issuer{url: name}).claims(newClock(), map[string]any{
			"iat": time.Now().Unix(), "nbf": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(), "roles": []string{"StorageTableDataReader"},
		})
		good, forged := edSigner().sign(claims), newEC("unknown").sign(claims)
		if _, err := v.bearer(t.Context(), good); err != nil {
			t.Fatal(err)
		}
		is.hangs.Store(true)
		time.Sleep(pause)
		const crowd = 200
		begin := time.Now()
		var wg sync.WaitGroup
		var atOnce, late atomic.Int64
		for range crowd {
			wg.Go(func() {
				_, err := v.bearer(t.Context(), forged)
				e, ok := errors.AsType[*table.Error](err)
				if !ok || e.Code != table.ServerBusy || !errors.Is(err, protocol.ErrSuspicious) {
					t.Errorf("%v: want a suspicious ServerBusy", err)
				}
				switch time.Since(begin) {
				case 0:
					atOnce.Add(1)
				case wait:
					late.Add(1)
				}
			})
		}
		synctest.Wait()
		if _, err := v.bearer(t.Context(), good); err != nil || time.Since(begin) != 0 {
			t.Errorf("a good token beside them: %v after %v", err, time.Since(begin))
		}
		wg.Wait()
		if late.Load() != waiters || atOnce.Load() != crowd-waiters || is.asking.Load() != 1 {
			t.Errorf("%d waited, %d were answered at once, %d requests to the issuer", late.Load(), atOnce.Load(), is.asking.Load())
		}
		time.Sleep(timeout) // wait until the attempt to read the keys times out
		is.hangs.Store(false)
		time.Sleep(retry)
		if _, err := v.bearer(t.Context(), forged); !errors.Is(err, errKey) {
			t.Errorf("the issuer is back: %v", err)
		}
	})
}
