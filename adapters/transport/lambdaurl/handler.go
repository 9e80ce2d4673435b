package lambdaurl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"edgetable/core/protocol"
	"edgetable/core/table"
)

// PageBytes are limits of the keys and properties in a page of a query, in bytes
// (table.Budget.Bytes): first the usual one, then those that are tried if its response
// is too large. JSON makes most pages hardly larger: a page has at most 1,000 entities, so
// a full one has large properties. But it escapes text beyond ASCII, which becomes 2 to 3.5
// times as large: the second limit is for that. The last one is for control characters,
// which become eight times as large.
var PageBytes = [...]int{4 << 20, 3 << 19, 256 << 10}

// Protocol is what serves the requests; *protocol.Handler is one.
type Protocol interface {
	Serve(ctx context.Context, req *protocol.Request) protocol.Response
	Refuse(req *protocol.Request, err *table.Error) protocol.Response
}

var _ Protocol = (*protocol.Handler)(nil)

// Handler serves events. Its Invoke is what a Function URL in the mode BUFFERED
// and the other doors call, Stream is for the mode RESPONSE_STREAM:
//
//	lambda.Start(h)        // buffered: a Handler is a lambda.Handler
//	lambda.Start(h.Stream)
//
// It is safe for concurrent use.
type Handler struct {
	// Protocol has pages of PageBytes[0]; for Stream the core's own will do.
	Protocol Protocol
	// Narrow serve the same tables with the shorter pages. One after the other is
	// asked when a response was too large; it may be empty: then that is an error.
	Narrow []Protocol
	// Secret returns the value that a trusted proxy sends in [SecretHeader]; without
	// it, forwarded headers are ignored. It is called only for requests with that
	// header; an error refuses the header. nil trusts no proxy.
	Secret func(ctx context.Context) (string, error)
	// Observe gets every response before its memory is given back. It may be nil,
	// and must not keep any part of the Response.
	Observe func(ctx context.Context, o *Observation)
	// Task does what an event that is no HTTP request asks for, such as one of
	// a schedule. It may be nil: then it is an error.
	Task func(ctx context.Context, event json.RawMessage) error
}

// Observation is a request that was served.
type Observation struct {
	Door string // function-url, http-api, rest-api or load-balancer
	// Response has a complete summary. Its Sent is the length of the answer to
	// Lambda, or of the body of a stream.
	Response *protocol.Response
	Narrowed int // how often it was served again, as it was too large
}

// margin is the time before the end of a function at which the handler gives up, so that
// it can still answer with an error.
const margin = 500 * time.Millisecond

// within makes a context that ends before Lambda ends the function.
func within(ctx context.Context) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, end.Add(-min(margin, time.Until(end)/4)))
}

// open reads an event, and its forwarded headers if they are trusted.
func (h *Handler) open(ctx context.Context, event []byte) (protocol.Request, door, error) {
	req, d, err := decode(event)
	if err == nil {
		h.forwarded(ctx, &req)
	}
	return req, d, err
}

// Invoke serves an event and returns the whole answer. An error is the
// function's: only for events that are no HTTP requests.
func (h *Handler) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	begin := time.Now()
	req, door, err := h.open(ctx, event)
	if errors.Is(err, errNoHTTP) && h.Task != nil {
		return []byte("null"), h.Task(ctx, event)
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := within(ctx)
	defer cancel()
	server, narrow, narrowed := h.Protocol, h.Narrow, 0
	if req.Method != http.MethodGet {
		narrow = nil // a write is not repeated
	} else if n := len(narrow); door.narrow && n > 0 {
		server, narrow = narrow[n-1], nil
	}
	resp := h.serve(ctx, server, &req, &door)
	answer := door.answer(req.Method, &resp)
	for ; answer == nil && len(narrow) > 0; narrow = narrow[1:] {
		resp.Release()
		resp = h.serve(ctx, narrow[0], &req, &door)
		answer = door.answer(req.Method, &resp)
		narrowed++
	}
	if answer == nil {
		refusal := h.Protocol.Refuse(&req, tooLarge(req.Method, &resp, &door))
		refusal.About(&resp.Summary)
		resp.Release()
		resp = refusal
		answer = door.answer(req.Method, &resp)
	}
	resp.Received, resp.Sent, resp.Took = int(max(req.ContentLength, 0)), len(answer), time.Since(begin)
	h.observe(ctx, &Observation{Door: door.name, Response: &resp, Narrowed: narrowed})
	resp.Release()
	return answer, nil
}

// serve answers a request. It refuses requests through a door that changes paths.
func (h *Handler) serve(ctx context.Context, server Protocol, req *protocol.Request, d *door) protocol.Response {
	if d.closed {
		return server.Refuse(req, table.NotImplemented.With("This request came through an API Gateway HTTP API, "+
			"which decodes the escapes in paths: keys would be mistaken for others, and signatures never be right. "+
			"Use a Function URL, a REST API or a load balancer."))
	}
	resp := server.Serve(ctx, req)
	if resp.Cut {
		resp.Release()
		return protocol.Response{Status: http.StatusBadGateway, Cut: true, Summary: resp.Summary}
	}
	return resp
}

// tooLarge says that the response is too large to be sent. A read can be repeated
// in smaller pieces; a write stays written.
func tooLarge(method string, resp *protocol.Response, d *door) *table.Error {
	what := fmt.Sprintf("The response has %d bytes, more than this front door lets through in its %d: ", len(resp.Body), d.limit)
	if method == http.MethodGet {
		return table.NotImplemented.With(what + "ask for less with $top or $select, or use a Function URL that streams.")
	}
	return table.InternalError.With(what + "the operation was done. Send Prefer: return-no-content, or smaller batches.")
}

func (h *Handler) observe(ctx context.Context, o *Observation) {
	if h.Observe != nil {
		h.Observe(ctx, o)
	}
}
