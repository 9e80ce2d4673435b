package httpserver

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"edgetable/core/protocol"
)

// Protocol is what serves the requests; *protocol.Handler is one.
type Protocol interface {
	Serve(ctx context.Context, req *protocol.Request) protocol.Response
}

// Observer is told of every response before its memory is given back; it must
// not keep the Response.
type Observer func(r *http.Request, resp *protocol.Response, took time.Duration)

// Handler is a protocol as an http.Handler.
type Handler struct {
	Protocol Protocol
	// TrustProxy takes the scheme and host of URLs in responses from
	// X-Forwarded-Proto and X-Forwarded-Host: only behind a proxy that sets them.
	TrustProxy bool
	// Observe may be nil.
	Observe Observer
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var begin time.Time
	if h.Observe != nil {
		begin = time.Now()
	}
	req := protocol.Request{
		Method:        r.Method,
		Target:        r.RequestURI,
		Host:          r.Host,
		Scheme:        "http",
		Header:        protocol.Header(r.Header),
		Body:          r.Body,
		ContentLength: r.ContentLength,
	}
	if r.TLS != nil {
		req.Scheme = "https"
	}
	if h.TrustProxy {
		if s := r.Header.Get("X-Forwarded-Proto"); s == "http" || s == "https" {
			req.Scheme = s
		}
		if s := r.Header.Get("X-Forwarded-Host"); s != "" {
			req.Host = s
		}
	}
	resp := h.Protocol.Serve(r.Context(), &req)
	send(w, &resp)
	if h.Observe != nil {
		h.Observe(r, &resp, time.Since(begin))
	}
	resp.Release()
}

// send writes the response with its field names as they are: net/http would
// otherwise change the case that some clients look for.
func send(w http.ResponseWriter, resp *protocol.Response) {
	header := w.Header()
	values := make([]string, len(resp.Header)+1) // one allocation for all fields
	for i, f := range resp.Header {
		values[i] = f.Value
		header[f.Name] = values[i : i+1 : i+1]
	}
	if resp.Status != http.StatusNoContent {
		last := len(resp.Header)
		values[last] = strconv.Itoa(len(resp.Body))
		header["Content-Length"] = values[last:]
	}
	if _, ok := header["Content-Type"]; !ok {
		header["Content-Type"] = nil // no guessing
	}
	w.WriteHeader(resp.Status)
	if len(resp.Body) > 0 {
		// A write that fails means that the client has gone: nobody to tell.
		_, _ = w.Write(resp.Body)
	}
}
