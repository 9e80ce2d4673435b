// Package ceilingtest runs a ceiling for a test.
package ceilingtest

import (
	"context"
	"errors"
	"net"
	"testing"

	"edgetable/functions/tablebench/internal/ceiling"
)

// Serve serves the handler until the test ends, closes it then, and returns its URL.
func Serve(t testing.TB, h *ceiling.Handler) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Listen(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-done, h.Close()); err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}
