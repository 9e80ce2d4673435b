package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/testdata/must"
)

// get is the status and the body of a request without credentials.
func get(t *testing.T, url string) (int, string) {
	t.Helper()
	resp, err := http.Get(url)
	must.OK(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	must.OK(t, err)
	return resp.StatusCode, string(text)
}

// Health needs no key and stands on the port of the tables.
func TestHealth(t *testing.T) {
	t.Parallel()
	s := start(t, nil, "--data", t.TempDir(), "--trust-proxy")
	base := strings.TrimSuffix(s.said(t, "endpoint"), "/devstoreaccount1")
	for path, want := range map[string]int{"/_/live": 200, "/_/ready": 200, "/_/ready?x=y": 200, "/_/": 404, "/_/Tables": 404} {
		if status, text := get(t, base+path); status != want {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	// The connection stays good for the next request.
	conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	must.OK(t, err)
	defer conn.Close()
	r := bufio.NewReader(conn)
	for range 2 {
		fmt.Fprint(conn, "GET /_/ready HTTP/1.1\r\nHost: h\r\n\r\n")
		resp, err := http.ReadResponse(r, nil)
		if err != nil || resp.StatusCode != 200 || resp.Close {
			t.Fatalf("%v, %v", resp, err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
	}
	s.ends(t)
}

// Readiness is what the store does, asked seldom.
func TestReadiness(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var failure error
		var asked atomic.Int64
		wait := time.Duration(0)
		h := &health{fresh: time.Second, log: slog.New(slog.DiscardHandler), check: func(context.Context) error {
			asked.Add(1)
			time.Sleep(wait)
			return failure
		}}
		ready := func(want int, checks int64, why string) {
			t.Helper()
			if status, text := h.state("/_/ready"); status != want || asked.Load() != checks {
				t.Errorf("%s: %d after %d checks, want %d after %d: %s", why, status, asked.Load(), want, checks, text)
			}
		}
		ready(200, 1, "it works")
		ready(200, 1, "that is known")
		failure = errors.New("disk full")
		ready(200, 1, "for a second")
		time.Sleep(time.Second)
		ready(503, 2, "it does not work")
		failure = nil
		time.Sleep(time.Second)
		ready(200, 3, "it works again")
		time.Sleep(time.Second)
		wait = time.Hour
		ready(503, 4, "it hangs")
		ready(503, 4, "it hangs, and is not asked twice")
		h.draining.Store(true)
		ready(503, 4, "it drains")
		if status, _ := h.state("/_/live"); status != 200 {
			t.Errorf("live: %d", status)
		}
		h.wait()
	})
}
