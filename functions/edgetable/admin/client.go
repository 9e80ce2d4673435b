package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"edgetable/adapters/backup/repository"
	"edgetable/core/traffic"
	"edgetable/functions/edgetable/cli"
)

// Server is a client of the server that uses a data directory.
type Server struct {
	http.Client
	data string
}

// Reach returns a client of the server that uses a data directory. It does not connect.
func Reach(data, socket string) *Server {
	r := &Server{data: data}
	r.Transport = &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", Socket(data, socket))
	}}
	return r
}

// Identity implements the interface snapshotter of package backup.
func (r *Server) Identity() (string, error) {
	text, err := r.ask(context.Background(), http.MethodGet, "/identity")
	if err != nil {
		return "", fmt.Errorf("%s is in use: %w", r.data, err)
	}
	return string(text), nil
}

// Checkpoint implements the interface snapshotter of package backup. The server chooses the directory.
func (r *Server) Checkpoint(ctx context.Context, _ string) (*repository.LogSpan, error) {
	return read[*repository.LogSpan](ctx, r, http.MethodPost, "/checkpoint")
}

// Promote makes the store of a server the primary and returns the server's message.
func (r *Server) Promote(ctx context.Context, force, takeOver bool) (string, error) {
	text, err := r.ask(ctx, http.MethodPost, fmt.Sprintf("/promote?force=%t&takeover=%t", force, takeOver))
	return string(text), err
}

// Link is a one-time URL that opens all accounts in a server's explorer.
type Link struct {
	URL  string        `json:"url"`
	Good time.Duration `json:"good"` // time for which the URL is valid
}

// Link requests a one-time URL of the explorer.
func (r *Server) Link(ctx context.Context) (Link, error) {
	return read[Link](ctx, r, http.MethodPost, "/link")
}

// Traffic returns the traffic of a table. If account is "", the first account with this table is used.
func (r *Server) Traffic(ctx context.Context, account, table string) (*traffic.Report, error) {
	return Get[*traffic.Report](ctx, r, "/traffic/"+url.PathEscape(table)+"?account="+url.QueryEscape(account))
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

// Get sends a GET request to a server and decodes the JSON response.
func Get[T any](ctx context.Context, server *Server, path string) (T, error) {
	return read[T](ctx, server, http.MethodGet, path)
}

func read[T any](ctx context.Context, server *Server, method, path string) (v T, err error) {
	text, err := server.ask(ctx, method, path)
	if err != nil {
		return v, err
	}
	err = json.Unmarshal(text, &v)
	return v, err
}

// stateTimeout is the timeout of a request for the state of a server. A busy machine may need some seconds.
const stateTimeout = 30 * time.Second

// Ask returns the state of the server that uses a data directory, or nil if no server is running. It returns an error
// if a server is running but does not report its state.
func Ask(ctx context.Context, data, socket string) (*Info, error) {
	path := Socket(data, socket)
	c, err := net.Dial("unix", path)
	if op, ok := errors.AsType[*net.OpError](err); ok && !op.Timeout() && !errors.Is(err, fs.ErrPermission) {
		return nil, nil // the socket does not exist, or no process listens on it
	}
	var info *Info
	if err == nil {
		_ = c.Close()
		within, cancel := context.WithTimeoutCause(ctx, stateTimeout, fmt.Errorf("no answer within %v", stateTimeout))
		defer cancel()
		if info, err = Get[*Info](within, Reach(data, socket), "/server"); within.Err() != nil {
			err = context.Cause(within)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the server at %s does not say where it listens: %w", path, err)
	}
	return info, nil
}
