package remote

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// service simulates a table service that answers each request after a second. It refuses the requests beyond its
// capacity.
type service struct {
	capacity       atomic.Int64
	active, served atomic.Int64
	retryAfter     string
}

func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	defer s.active.Add(-1)
	status, header := 200, http.Header{}
	if s.active.Add(1) > s.capacity.Load() {
		status = 503
		if s.retryAfter != "" {
			header.Set("Retry-After", s.retryAfter)
		}
	} else {
		s.served.Add(1)
	}
	select {
	case <-time.After(time.Second):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(bytes.NewReader(nil))}, nil
}

func newTestClient(t *testing.T, rt http.RoundTripper, connections int) *Client {
	t.Helper()
	e, err := ParseConnection(Development)
	if err != nil {
		t.Fatal(err)
	}
	c := New(e, connections)
	c.http.Transport = rt
	return c
}

// TestConcurrencyFollowsCapacity checks that the limit falls when the capacity of the service falls, and rises again
// when the capacity rises. Every request must be served in the end.
func TestConcurrencyFollowsCapacity(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &service{}
		s.capacity.Store(100)
		c := newTestClient(t, s, 64)
		ctx, cancel := context.WithCancel(t.Context())
		var done atomic.Int64
		for range 200 {
			go func() {
				for ctx.Err() == nil {
					if _, err := c.send(ctx, request{method: "GET", path: "/Tables"}, nil); err == nil {
						done.Add(1)
					}
				}
			}()
		}
		time.Sleep(100 * time.Second)
		if _, refusals, bound := c.Load(); bound != 64 || refusals != 0 {
			t.Errorf("a service that does all: bound %d, refusals %d", bound, refusals)
		}
		s.capacity.Store(6)
		time.Sleep(100 * time.Second)
		if _, _, bound := c.Load(); bound < 2 || bound > 8 {
			t.Errorf("a service that does 6 at once: bound %d", bound)
		}
		before := done.Load()
		time.Sleep(100 * time.Second)
		if rate := done.Load() - before; rate < 300 {
			t.Errorf("a service that does 6 at once did %d requests in 100 s", rate)
		}
		s.capacity.Store(100)
		time.Sleep(200 * time.Second)
		if _, _, bound := c.Load(); bound != 64 {
			t.Errorf("a service that has recovered: bound %d", bound)
		}
		cancel()
		synctest.Wait()
		if c.limit.active != 0 || len(c.limit.waiting) != 0 {
			t.Errorf("at the end %d are active, %d wait", c.limit.active, len(c.limit.waiting))
		}
	})
}

// TestRetries checks that a request is retried after the Retry-After of the service, and that the client finally
// stops retrying.
func TestRetries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &service{retryAfter: "7"}
		c := newTestClient(t, s, 4)
		begin := time.Now()
		time.AfterFunc(20*time.Second, func() { s.capacity.Store(1) })
		if _, err := c.send(t.Context(), request{method: "GET", path: "/Tables"}, nil); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took != 25*time.Second { // three refused attempts and a successful one of 1 s each; three waits of 7 s (retryAfter)
			t.Errorf("it took %v", took)
		}
		s.capacity.Store(0)
		begin = time.Now()
		_, err := c.send(t.Context(), request{method: "GET", path: "/Tables"}, nil)
		var answer *Error
		if took := time.Since(begin); !errors.As(err, &answer) || answer.Status != 503 || took > c.repeatFor+time.Minute {
			t.Errorf("%v after %v", err, took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, cancel)
		begin = time.Now()
		if _, err := c.send(ctx, request{method: "GET", path: "/Tables"}, nil); !errors.Is(err, context.Canceled) || time.Since(begin) != 3*time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}
