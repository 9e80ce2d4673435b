package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"edgetable/core/table"
)

// plainLog returns a log without times.
func plainLog(out io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}

// TestReadinessFull checks that the log distinguishes a full disk from a broken store, and that each change of
// this state is logged once.
func TestReadinessFull(t *testing.T) {
	t.Parallel()
	var failure error
	var log strings.Builder
	h := &health{log: plainLog(&log), check: func(context.Context) error { return failure }}
	full := fmt.Errorf("store: %w", table.ErrFull)
	for _, failure = range []error{full, full, nil, nil, errors.New("io"), full, errors.New("io"), nil} {
		h.state("/_/ready")
	}
	want := `level=WARN msg="not ready, because the disk is full: writes are refused, deletes work while there is room for them"
level=INFO msg="ready again: there is room on the disk"
level=ERROR msg="the store has failed" cause=io
level=WARN msg="not ready, because the disk is full: writes are refused, deletes work while there is room for them"
level=ERROR msg="the store has failed" cause=io
level=INFO msg="the store works again"
`
	if log.String() != want {
		t.Errorf("the log:\n%swant\n%s", &log, want)
	}
}

// refuses is the error of a store that refuses writes. Its value is the reason.
type refuses string

func (r refuses) Error() string         { return "store: " + string(r) }
func (r refuses) RefusesWrites() string { return string(r) }

// TestReadinessRefused checks that the log and /_/ready distinguish a store that refuses writes from a
// broken store, and say why the store refuses writes.
func TestReadinessRefused(t *testing.T) {
	t.Parallel()
	var failure error
	var log strings.Builder
	h := &health{log: plainLog(&log), check: func(context.Context) error { return failure }}
	for _, failure = range []error{refuses("clocks"), refuses("clocks"), refuses("fsync=off"), nil, errors.New("io"), refuses("clocks"), errors.New("io")} {
		status, text := h.state("/_/ready")
		if r, ok := failure.(refuses); ok && (status != 503 || text != "writes are refused, and reads work: "+string(r)+"\n") {
			t.Errorf("%v: %d %s", failure, status, text)
		}
	}
	want := `level=WARN msg="not ready: writes are refused, and reads work" why=clocks
level=WARN msg="not ready: writes are refused, and reads work" why="fsync=off"
level=INFO msg="ready again: writes are accepted"
level=ERROR msg="the store has failed" cause=io
level=WARN msg="not ready: writes are refused, and reads work" why=clocks
level=ERROR msg="the store has failed" cause=io
`
	if log.String() != want {
		t.Errorf("the log:\n%swant\n%s", &log, want)
	}
}

// TestReadiness checks that /_/ready reports the state of the store. Frequent requests must cause few checks of
// the store.
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
