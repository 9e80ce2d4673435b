package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
)

// runningServer is the server that uses a data directory.
type runningServer struct {
	http.Client
	data string
}

// askServer returns the server that uses a data directory. Its socket is there unless
// another path is given.
func askServer(data, socket string) *runningServer {
	if socket == "" {
		socket = filepath.Join(data, adminSocket)
	}
	r := &runningServer{data: data}
	r.Transport = &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
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
