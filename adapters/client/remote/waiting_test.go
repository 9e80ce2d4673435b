package remote

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// roundTripFunc is an http.RoundTripper that calls a function instead of using the network.
type roundTripFunc func(*http.Request) (*http.Response, error)

func (w roundTripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return w(r) }

// TestWaiting checks that OnWait is called once if a request has no answer or is retried, with the time at which the
// client will stop retrying.
func TestWaiting(t *testing.T) {
	t.Parallel()
	e, err := ParseConnection(Development)
	if err != nil {
		t.Fatal(err)
	}
	reset := errors.New("reset")
	good := func() *http.Response {
		return &http.Response{StatusCode: 204, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(""))}
	}
	for name, tt := range map[string]struct {
		way   func(n int) (*http.Response, error) // n is the number of the attempt, from 1
		cause error
		after time.Duration
		told  int
	}{
		"no answer": {func(int) (*http.Response, error) { time.Sleep(7 * time.Second); return good(), nil }, nil, patience, 2},
		"repeated": {func(n int) (*http.Response, error) {
			if n%3 != 0 {
				return nil, reset
			}
			return good(), nil
		}, reset, 0, 2},
		"busy": {func(n int) (*http.Response, error) {
			if n < 2 {
				return &http.Response{StatusCode: 503, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(""))}, nil
			}
			return good(), nil
		}, nil, 0, 0},
		"at once": {func(int) (*http.Response, error) { return good(), nil }, nil, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, begin := 0, time.Now()
				told := 0
				var mu sync.Mutex // OnWait may be called from another goroutine
				c := NewWithTransport(roundTripFunc(func(*http.Request) (*http.Response, error) { n++; return tt.way(n) }), e, 1)
				c.OnWait = func(cause error, until time.Time) {
					mu.Lock()
					defer mu.Unlock()
					if told++; !errors.Is(cause, tt.cause) || until.Sub(begin) != repeatFor || time.Since(begin) != tt.after {
						t.Errorf("after %v: %v until %v", time.Since(begin), cause, until.Sub(begin))
					}
				}
				for range 2 {
					if _, err := c.send(t.Context(), request{method: "GET", path: "/Tables"}, nil); err != nil {
						t.Fatal(err)
					}
					mu.Lock()
					begin = time.Now()
					mu.Unlock()
				}
				if told != tt.told {
					t.Errorf("told %d times", told)
				}
			})
		})
	}
}
