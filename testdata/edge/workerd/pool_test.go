package workerd_test

import (
	"context"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"edgetable/core/sharedkey"
)

// list asks the Worker for tables.
func list(ctx context.Context, c *http.Client) (status int, err error) {
	key, err := sharedkey.ParseKey("c2VjcmV0")
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.Worker+"/acme/Tables", nil)
	if err != nil {
		return 0, err
	}
	date := sharedkey.FormatDate(time.Now())
	req.Header.Set("x-ms-date", date)
	req.Header.Set("x-ms-version", "2019-02-02")
	req.Header.Set("Authorization", key.Authorization(sharedkey.SharedKeyLite, "acme", sharedkey.Request{
		Method: http.MethodGet, Path: "/acme/Tables", XMSDate: date,
	}))
	resp, err := c.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
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
					_, _ = list(ctx, c)
					return
				}
				if status, err := list(t.Context(), c); err != nil || status != http.StatusOK {
					t.Errorf("%d, %v", status, err)
				}
			})
		}
		group.Wait()
	}
}
