package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

// listenAdmin listens on loopback alone, because the admin address asks for no
// credentials.
func listenAdmin(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--admin: %w (choose an address on loopback such as 127.0.0.1:9102)", err)
	}
	if !loopback(l.Addr()) {
		return nil, errors.Join(errors.New("--admin asks for no key, so it must be an address on loopback, such as 127.0.0.1:9102"), l.Close())
	}
	return l, nil
}

// serveAdmin serves health and profiles until stop, which ends profiles.
func serveAdmin(l net.Listener, log *slog.Logger) (stop func()) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	profiles, cancel := context.WithCancel(context.Background())
	server := &http.Server{
		Handler: mux, ReadTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return profiles },
	}
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the admin address failed", "cause", err)
		}
	}()
	return func() {
		cancel()
		_ = server.Shutdown(context.Background())
	}
}
