package workerd_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"edgetable/core/sharedkey"
	"edgetable/testdata/edge/workerd"
)

// list asks the Worker for tables.
func list(ctx context.Context, s *workerd.Server, c *http.Client) (status int, err error) {
	resp, err := request(ctx, s, c, "")
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// request is a list of tables that meets a fault of faults.mjs, if there is one.
func request(ctx context.Context, s *workerd.Server, c *http.Client, fault string) (*http.Response, error) {
	key, err := sharedkey.ParseKey("c2VjcmV0")
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Worker+"/acme/Tables", nil)
	if err != nil {
		return nil, err
	}
	if fault != "" {
		req.Header.Set("x-fault", fault)
	}
	date := sharedkey.FormatDate(time.Now())
	req.Header.Set("x-ms-date", date)
	req.Header.Set("x-ms-version", "2019-02-02")
	req.Header.Set("Authorization", key.Authorization(sharedkey.SharedKeyLite, "acme", sharedkey.Request{
		Method: http.MethodGet, Path: "/acme/Tables", XMSDate: date,
	}))
	return c.Do(req)
}

// More requests than there are instances, and clients that hang up: every other
// one is answered.
func TestManyRequests(t *testing.T) {
	c := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 100, MaxIdleConnsPerHost: 100}}
	defer c.CloseIdleConnections()
	for range 2 {
		var group sync.WaitGroup
		for n := range 300 {
			group.Go(func() {
				if n%3 == 0 { // gone at once
					ctx, cancel := context.WithCancel(t.Context())
					context.AfterFunc(ctx, c.CloseIdleConnections)
					go cancel()
					_, _ = list(ctx, server, c)
					return
				}
				if status, err := list(t.Context(), server, c); err != nil || status != http.StatusOK {
					t.Errorf("%d, %v", status, err)
				}
			})
		}
		group.Wait()
	}
}

// The module is trapped while it serves a request: that one gets the protocol's
// own answer, and the instance serves no other.
func TestTrappedRequest(t *testing.T) {
	for range 3 {
		resp, err := request(t.Context(), server, http.DefaultClient, "trap")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusInternalServerError || !strings.Contains(string(body), "InternalError") || resp.Header.Get("x-ms-request-id") == "" {
			t.Errorf("%s, %v: %s", resp.Status, err, body)
		}
		if status, err := list(t.Context(), server, http.DefaultClient); err != nil || status != http.StatusOK {
			t.Errorf("the next request: %d, %v", status, err)
		}
	}
}

// Instances that served many requests, or have grown, are replaced: those for
// requests and the one for objects.
func TestRecycle(t *testing.T) {
	s, err := workerd.Start(workerd.Options{Data: t.TempDir(), Env: []string{"EDGETABLE_ACCOUNTS=acme:c2VjcmV0"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	serve := func() {
		t.Helper()
		for range 3 {
			if status, err := list(t.Context(), s, http.DefaultClient); err != nil || status != http.StatusOK {
				t.Fatalf("%d, %v", status, err)
			}
		}
	}
	for _, tt := range []struct {
		why        string
		uses, grow int
	}{
		{"after many requests", 1_000_000, 0},
		{"after a large one", 0, 45 << 20},
	} {
		serve()
		before := instances(t, s, 0, 0).Made
		serve()
		if made := instances(t, s, 0, 0).Made; made != before {
			t.Errorf("%d instances were replaced without a reason", made-before)
		}
		instances(t, s, tt.uses, tt.grow)
		serve()
		after := instances(t, s, 0, 0)
		if made := after.Made - before; made < 2 {
			t.Errorf("%s %d instances were replaced", tt.why, made)
		}
		before = after.Made
		serve()
		if made := instances(t, s, 0, 0).Made; made != before {
			t.Errorf("%s instances go on to be replaced: %d", tt.why, made-before)
		}
	}
}

func instances(t *testing.T, s *workerd.Server, uses, grow int) workerd.Instances {
	t.Helper()
	i, err := s.Instances(t.Context(), uses, grow)
	if err != nil {
		t.Fatal(err)
	}
	return i
}
