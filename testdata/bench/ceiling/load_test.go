package ceiling_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"edgetable/functions/edgetable/load"
	"edgetable/functions/edgetable/load/wire"
	"edgetable/testdata/bench/ceiling"
)

// TestRunAgainstCeilings runs the load generator against ceiling servers (which do as little as possible),
// over real connections and with a real Pebble.
func TestRunAgainstCeilings(t *testing.T) {
	t.Parallel()
	l := load.Layout{Entities: 1000, RowsPerPartition: 1000}
	for _, tt := range []struct {
		kind   ceiling.Kind
		op     load.Op
		failed string // part of the first error; "" if no error is expected
	}{
		{ceiling.Null, load.Insert, ""},
		{ceiling.Write, load.Insert, ""},
		{ceiling.Write, load.Upsert, ""},
		{ceiling.Write, load.Delete, ""}, // the run ends when all 1000 entities are deleted
		{ceiling.Read, load.Get, ""},
		{ceiling.Page, load.Query, ""},
		{ceiling.Page, load.Scan, ""},                                // the table has only this page
		{ceiling.Null, load.Get, "204 (200 was expected)"},           // the status is wrong
		{ceiling.Page, load.Get, "an entity that was not requested"}, // the response has a wrong entity
		{ceiling.Page, load.Page, "returned 1000 entities"},          // the response has too many entities
		{ceiling.Null, load.Batch, "204 (202 was expected)"},         // the response is not that of a batch
	} {
		t.Run(string(tt.kind)+"/"+string(tt.op), func(t *testing.T) {
			t.Parallel()
			h, err := ceiling.New(tt.kind, t.TempDir(), wire.Development("a"), "t", l)
			if err != nil {
				t.Fatal(err)
			}
			target, err := wire.NewTarget(serve(t, h)+"/a", wire.Development("a"))
			if err != nil {
				t.Fatal(err)
			}
			res := run(t, load.Spec{Target: target, Table: "t", Op: tt.op, Layout: l, Prefix: "x", Connections: 4})
			if tt.failed != "" {
				if res.Errors == 0 || !strings.Contains(res.First.Error(), tt.failed) {
					t.Errorf("%d errors, the first %v; want %q", res.Errors, res.First, tt.failed)
				}
				return
			}
			if res.Errors != 0 || res.Ops == 0 || res.Latency.Count() != res.Ops || res.Entities < res.Ops {
				t.Errorf("%d errors (%v), %d ops, %d entities, %d latencies", res.Errors, res.First, res.Ops, res.Entities, res.Latency.Count())
			}
			if tt.op == load.Delete && res.Ops > uint64(l.Entities) {
				t.Errorf("deleted %d of %d entities", res.Ops, l.Entities)
			}
		})
	}
}

// serve runs the handler until the test ends, and then closes the handler. The result is the URL.
func serve(t *testing.T, h *ceiling.Handler) string {
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

// run repeats a measurement with longer durations until at least one request completes within the duration.
func run(t *testing.T, spec load.Spec) *load.Result {
	t.Helper()
	for spec.Duration = 100 * time.Millisecond; ; spec.Duration *= 4 {
		res, err := load.Run(t.Context(), spec)
		if errors.Is(err, load.ErrTooShort) && spec.Duration < time.Minute {
			spec.Prefix += "x" // a new prefix, because requests of this run may still be executed, and must not write keys of the next run
			continue
		}
		if err != nil {
			t.Fatal(spec.Op, err)
		}
		return res
	}
}
