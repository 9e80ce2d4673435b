package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"edgetable/functions/edgetable/cli"
)

// Server is the server that uses a data directory.
type Server struct {
	http.Client
	data string
}

// Reach returns the server that uses a data directory.
func Reach(data, socket string) *Server {
	r := &Server{data: data}
	r.Transport = &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", Socket(data, socket))
	}}
	return r
}

// Identity implements snapshotter.
func (r *Server) Identity() (string, error) {
	text, err := r.ask(context.Background(), http.MethodGet, "/identity")
	if err != nil {
		return "", fmt.Errorf("%s is in use: %w", r.data, err)
	}
	return string(text), nil
}

// Checkpoint implements snapshotter. The server knows the directory.
func (r *Server) Checkpoint(ctx context.Context, _ string) error {
	_, err := r.ask(ctx, http.MethodPost, "/checkpoint")
	return err
}

func (r *Server) ask(ctx context.Context, method, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://server"+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := r.Do(req)
	if err != nil {
		return nil, fmt.Errorf("no server answers: is one running with --data %s? %w", r.data, cli.Dialing(err))
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New("the server says: " + strings.TrimSpace(string(text)))
	}
	return text, err
}

// Get reads JSON from the socket of a server.
func Get[T any](ctx context.Context, server *Server, path string) (v T, err error) {
	text, err := server.ask(ctx, http.MethodGet, path)
	if err != nil {
		return v, err
	}
	return v, json.Unmarshal(text, &v)
}
