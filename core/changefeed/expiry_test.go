package changefeed_test

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/core/sas"
	"edgetable/core/wiretest"
)

// TestSignatureEnds checks that a signature that expires late does not extend a stream beyond its maximum duration.
// It also checks that no request waits until after its signature has expired.
func TestSignatureEnds(t *testing.T) {
	t.Parallel()
	for expiry, want := range map[string]time.Duration{"9999-12-31T23:59:59Z": 15 * time.Minute, "2400-01-01": 15 * time.Minute} {
		t.Run(expiry, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t)
				begin := time.Now()
				r := s.must(200, "GET", "/people?comp=changes"+s.signed(sas.TableValues{Permissions: "r", Expiry: expiry}), "", "Accept: text/event-stream")
				if _, err := io.ReadAll(r.stream); err != nil || time.Since(begin) != want {
					t.Errorf("the stream ends after %v: %v", time.Since(begin), err)
				}
				r.end()
			})
		})
	}
	t.Run("wait", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t)
			_, from := s.changes("")
			s.clock.Set(wiretest.Start)
			signature := s.signed(sas.TableValues{Permissions: "r", Expiry: wiretest.Start.Add(10 * time.Second).Format("2006-01-02T15:04:05Z")})
			expired := time.AfterFunc(9500*time.Millisecond, func() { s.clock.Set(wiretest.Start.Add(11 * time.Second)) })
			defer expired.Stop()
			begin := time.Now()
			s.must(200, "GET", "/people?comp=changes&wait=30&since="+from+signature, "")
			if took := time.Since(begin); took > 10*time.Second || took < 8*time.Second {
				t.Errorf("with a signature for ten seconds the answer comes after %v", took)
			}
		})
	})
}
