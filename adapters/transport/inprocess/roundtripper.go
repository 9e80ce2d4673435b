// Package inprocess serves the requests of an HTTP client in the same process, without a socket.
package inprocess

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"

	"edgetable/core/protocol"
)

// Protocol serves requests; *protocol.Handler implements it.
type Protocol interface {
	Serve(ctx context.Context, req *protocol.Request) protocol.Response
}

// RoundTripper serves requests with a Protocol, regardless of their host.
type RoundTripper struct{ Protocol Protocol }

// RoundTrip implements http.RoundTripper.
func (t RoundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	ctx := r.Context()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	fields := make(protocol.Header, len(r.Header))
	for name, values := range r.Header { // the caller may have written to the map directly, with names in any case
		name = http.CanonicalHeaderKey(name)
		fields[name] = append(fields[name], values...)
	}
	req := protocol.Request{
		Method: r.Method, Target: r.URL.RequestURI(), Host: cmp.Or(r.Host, r.URL.Host), Scheme: r.URL.Scheme,
		Header: fields, Body: r.Body, ContentLength: r.ContentLength,
	}
	if r.Body == nil || r.Body == http.NoBody {
		req.Body, req.ContentLength = nil, 0
	}
	resp := t.Protocol.Serve(ctx, &req)
	if resp.Disconnect {
		resp.Release()
		return nil, errCut
	}
	header := http.Header{}
	for _, f := range resp.Header {
		header.Add(f.Name, f.Value)
	}
	sent := resp.Body
	if r.Method == http.MethodHead {
		sent = nil
	}
	return &http.Response{
		Status: strconv.Itoa(resp.Status) + " " + cmp.Or(resp.Reason, http.StatusText(resp.Status)), StatusCode: resp.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, ContentLength: int64(len(resp.Body)), Request: r, Body: &body{bytes.NewReader(sent), resp.Release},
	}, nil
}

var errCut = errors.New("the connection was cut")

// body releases the memory of a response when it is closed.
type body struct {
	*bytes.Reader
	release func()
}

// Close implements io.Closer.
func (b *body) Close() error {
	b.Reader.Reset(nil)
	if b.release != nil {
		b.release()
		b.release = nil
	}
	return nil
}

var _ io.ReadCloser = (*body)(nil)
