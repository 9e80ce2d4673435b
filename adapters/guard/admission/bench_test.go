package admission_test

import (
	"context"
	"testing"

	"edgetable/adapters/guard/admission"
	"edgetable/core/protocol"
)

type idle struct{}

func (idle) Serve(context.Context, *protocol.Request) protocol.Response { return protocol.Response{} }

func benchmarked(concurrent int) front {
	return limited(idle{}, admission.Options{Concurrent: concurrent})
}

// BenchmarkServe measures the cost of a Limiter while no request waits. The handler that it calls costs 5 ns.
func BenchmarkServe(b *testing.B) {
	l, ctx, req := benchmarked(64), b.Context(), &protocol.Request{Host: "devstoreaccount1"}
	b.ReportAllocs()
	for b.Loop() {
		l.Serve(ctx, req)
	}
}

func BenchmarkServeParallel(b *testing.B) {
	l, ctx := benchmarked(64), b.Context()
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		req := &protocol.Request{Host: "devstoreaccount1"}
		for p.Next() {
			l.Serve(ctx, req)
		}
	})
}

// yields lets other goroutines run while it serves a request. So other requests begin to wait.
type yields struct{ turn chan struct{} }

func (y yields) Serve(context.Context, *protocol.Request) protocol.Response {
	y.turn <- struct{}{}
	return protocol.Response{}
}

// BenchmarkWait measures the cost of waiting for a slot. There is only one slot, so each request waits for
// the previous request. Each wait costs a switch of goroutines.
func BenchmarkWait(b *testing.B) {
	y := yields{make(chan struct{})}
	l := limited(y, admission.Options{Concurrent: 1})
	ctx := b.Context()
	b.ReportAllocs()
	go func() {
		for range y.turn {
		}
	}()
	b.SetParallelism(8)
	b.RunParallel(func(p *testing.PB) {
		req := &protocol.Request{Host: "devstoreaccount1"}
		for p.Next() {
			l.Serve(ctx, req)
		}
	})
	close(y.turn)
}
