package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"path/filepath"
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

// admin is what the admin address serves.
type admin struct {
	home *home
	log  *slog.Logger
}

// serve serves health, profiles and backups until stop, which ends profiles
// and waits for a backup that runs: the store must not be closed under it.
func (a *admin) serve(l net.Listener) (stop func()) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("POST /backup", a.backup)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	profiles, cancel := context.WithCancel(context.Background())
	server := &http.Server{
		Handler: mux, ReadTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return profiles },
	}
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			a.log.Error("the admin address failed", "cause", err)
		}
	}()
	return func() {
		cancel()
		_ = server.Shutdown(context.Background())
	}
}

// backup copies the store to the directory named by ?to=.
func (a *admin) backup(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Origin") != "" { // a page in a browser may not reach this
		http.Error(w, "not from a web page", http.StatusForbidden)
		return
	}
	to := r.URL.Query().Get("to")
	if to == "" {
		http.Error(w, "say where the copy goes: POST /backup?to=DIRECTORY", http.StatusBadRequest)
		return
	}
	if a.home.checkpoint == nil {
		http.Error(w, "this store makes no such backups: one in memory has none, DynamoDB has its own", http.StatusNotImplemented)
		return
	}
	to, err := filepath.Abs(to) // the client need not know where the server was started
	if err == nil {
		err = a.home.checkpoint(to)
	}
	switch {
	case err == nil:
		a.log.Info("backup", "to", to)
		fmt.Fprintln(w, "copied to", to)
	case errors.Is(err, fs.ErrExist):
		http.Error(w, err.Error(), http.StatusConflict)
	default:
		a.log.Error("backup failed", "to", to, "cause", err)
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}
