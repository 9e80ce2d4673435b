package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

// runningServer is the server that uses a data directory.
type runningServer struct {
	http.Client
	data string
}

// askServer returns the server that uses a data directory.
func askServer(data, socket string) *runningServer {
	r := &runningServer{data: data}
	r.Transport = &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socketOf(data, socket))
	}}
	return r
}

// Identity implements snapshotter.
func (r *runningServer) Identity() (string, error) {
	text, err := r.ask(context.Background(), http.MethodGet, "/identity")
	if err != nil {
		return "", fmt.Errorf("%s is in use: %w", r.data, err)
	}
	return string(text), nil
}

// Checkpoint implements snapshotter. The server knows the directory.
func (r *runningServer) Checkpoint(ctx context.Context, _ string) error {
	_, err := r.ask(ctx, http.MethodPost, "/checkpoint")
	return err
}

func (r *runningServer) ask(ctx context.Context, method, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://server"+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := r.Do(req)
	if err != nil {
		return nil, fmt.Errorf("no server answers: is one running with --data %s? %w", r.data, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New("the server says: " + strings.TrimSpace(string(text)))
	}
	return text, err
}

// askAdmin reads JSON from the socket of a server.
func askAdmin[T any](ctx context.Context, server *runningServer, path string) (v T, err error) {
	text, err := server.ask(ctx, http.MethodGet, path)
	if err != nil {
		return v, err
	}
	return v, json.Unmarshal(text, &v)
}
