package main

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"edgetable/adapters/observe"
	"edgetable/adapters/store/pebblestore"
	"edgetable/adapters/transport/httpserver"
	"edgetable/core/accounts"
	"edgetable/core/protocol"
	"edgetable/functions/edgetable/stores"
	"edgetable/testdata/must"
	"edgetable/testdata/proc"
)

// BenchmarkPointGet measures the processor time that a server in this process uses for a point read
// by a client in another process. It switches metrics and access log on and off many times a
// second. So both variants have the same noise of the machine and the same memory layout. It
// reports medians.
func BenchmarkPointGet(b *testing.B) {
	m, access := observers(b)
	log := slog.New(slog.DiscardHandler)
	requests, quiet := observe.NewRequestLog(log, access, time.Second), observe.NewRequestLog(log, nil, time.Second)
	var on atomic.Bool
	var served atomic.Int64
	store, err := pebblestore.Open(pebblestore.Options{Dir: b.TempDir(), CacheSize: 128 << 20})
	must.OK(b, err)
	known, err := accounts.Parse(accounts.Development + ":" + accounts.DevelopmentKey)
	must.OK(b, err)
	server := httpserver.Server{Log: log, Handler: &httpserver.Handler{
		Protocol: &protocol.Handler{
			Service: stores.NewService(store, 0), Now: stores.Now, NewID: protocol.RandomID(rand.Uint64), WithTimeout: context.WithTimeout, PathStyle: true,
			Accounts: known.Find,
		},
		Observe: func(resp *protocol.Response, end time.Time) {
			if resp.Operation == "GetEntity" {
				served.Add(1)
			}
			if on.Load() {
				m.Observe(resp)
				requests.Observe(resp, end)
			} else {
				quiet.Observe(resp, end)
			}
		},
	}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(b, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, l) }()
	b.Cleanup(func() {
		stop()
		<-ended // Serve returns when the connections of all clients are closed
		_ = store.Close()
	})
	self, err := os.Executable()
	must.OK(b, err)
	client := exec.Command(self, "bench", "--endpoint", "http://"+l.Addr().String()+"/devstoreaccount1", "--op", "get", "--entities", "10000",
		"--connections", "16", "--duration", "1h", "--warmup", "0s")
	client.Env = []string{mainVariable + "=1"}
	proc.Start(b, "", client)
	for served.Load() < 1000 { // wait until the client has inserted its entities
		time.Sleep(10 * time.Millisecond)
	}
	turn := func(observe bool) float64 {
		on.Store(observe)
		begun, used := served.Load(), processorTime(b)
		time.Sleep(25 * time.Millisecond)
		return float64(processorTime(b)-used) / float64(served.Load()-begun)
	}
	turn(true)
	var without, more []float64
	for b.Loop() {
		before, observed, after := turn(false), turn(true), turn(false)
		off := (before + after) / 2
		without, more = append(without, off), append(more, observed-off)
	}
	b.ReportMetric(0, "ns/op") // omit the default metric, which would be the duration of one measurement
	b.ReportMetric(median(without), "ns/get")
	b.ReportMetric(median(more), "more-ns/get")
	b.ReportMetric(100*median(more)/median(without), "%")
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}

// processorTime returns the CPU time of all threads of this process.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	must.OK(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
