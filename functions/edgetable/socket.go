package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// socketName is the socket in a data directory by which 'edgetable backup create'
// talks to the server. Only the owner of the server can open it.
const socketName = "server.sock"

// serveSocket serves the socket until stop, which waits for what runs.
func (s *serving) serveSocket(store *checkpoints) (stop func()) {
	path := filepath.Join(s.data, socketName)
	_ = os.Remove(path) // of a server that was killed: this one has locked the directory
	l, err := net.Listen("unix", path)
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		s.log.Warn("'edgetable backup create' will not reach this server", "cause", err)
		return func() {}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /identity", func(w http.ResponseWriter, _ *http.Request) {
		name, err := store.Identity()
		answerSocket(w, name, err)
	})
	mux.HandleFunc("POST /checkpoint", func(w http.ResponseWriter, r *http.Request) {
		answerSocket(w, "", store.Checkpoint(r.Context(), filepath.Join(s.data, backupStaging)))
	})
	server := &http.Server{Handler: mux, ReadTimeout: 10 * time.Second}
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("the socket in the data directory failed", "cause", err)
		}
	}()
	return func() { _ = server.Shutdown(context.Background()) }
}

func answerSocket(w http.ResponseWriter, text string, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	fmt.Fprint(w, text)
}

// runningServer is the server that uses a data directory.
type runningServer struct {
	http.Client
	data string
}

// askServer returns the server that uses a data directory.
func askServer(data string) *runningServer {
	r := &runningServer{data: data}
	r.Transport = &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(data, socketName))
	}}
	return r
}

// Identity implements snapshotter.
func (r *runningServer) Identity() (string, error) {
	return r.ask(context.Background(), http.MethodGet, "/identity")
}

// Checkpoint implements snapshotter. The server knows the directory.
func (r *runningServer) Checkpoint(ctx context.Context, _ string) error {
	_, err := r.ask(ctx, http.MethodPost, "/checkpoint")
	return err
}

func (r *runningServer) ask(ctx context.Context, method, path string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://server"+path, nil)
	if err != nil {
		return "", err
	}
	resp, err := r.Do(req)
	if err != nil {
		return "", fmt.Errorf("%s is in use, and its server cannot be asked for a backup: %w", r.data, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New("the server says: " + strings.TrimSpace(string(text)))
	}
	return string(text), err
}
