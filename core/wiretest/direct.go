package wiretest

import (
	"bytes"
	"cmp"
	"net/http"
	"net/netip"
	"net/textproto"
	"slices"
	"strconv"
	"testing"

	"edgetable/core/protocol"
)

// loopback is the source address of all requests, even of requests over a socket.
var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// Direct returns a Target that calls the handler directly, without a transport.
func Direct(t *testing.T, h *protocol.Handler) Target {
	return func(r *Request) (*Response, error) {
		header := make(protocol.Header)
		for _, f := range r.Header {
			name := textproto.CanonicalMIMEHeaderKey(f.Name) // transports pass header names in canonical form
			header[name] = append(header[name], f.Value)
		}
		req := protocol.Request{
			Method: r.Method, Target: r.Target, Host: r.Host, Scheme: "http",
			Header: header, Body: bytes.NewReader(r.Body), ContentLength: -1,
			Source: loopback,
		}
		if !r.Chunked {
			req.ContentLength = 0
			if n := r.Get("Content-Length"); n != "" {
				var err error
				if req.ContentLength, err = strconv.ParseInt(n, 10, 64); err != nil {
					return nil, err
				}
			}
		}
		resp := h.Serve(t.Context(), &req)
		defer resp.Release()
		out := &Response{Status: resp.Status, Reason: cmp.Or(resp.Reason, http.StatusText(resp.Status)), Body: slices.Clone(resp.Body)}
		for _, f := range resp.Header {
			out.Header = append(out.Header, Field(f))
		}
		if r.Method == "HEAD" {
			out.Body = nil // a transport sends no body in a response to HEAD
		}
		return out, nil
	}
}
