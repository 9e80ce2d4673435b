package server

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

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
