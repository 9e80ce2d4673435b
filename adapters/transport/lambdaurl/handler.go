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

// PageBytes are limits on the keys and properties in a page of a query, in bytes (table.Budget.Bytes). The first limit
// is the default. If the JSON of a page is too large, the next limit is tried: the second is for text that is not
// ASCII, the last for control characters.
var PageBytes = [...]int{4 << 20, 3 << 19, 256 << 10}

// Protocol serves the requests; *protocol.Handler implements it.
type Protocol interface {
	Serve(ctx context.Context, req *protocol.Request) protocol.Response
	Refuse(req *protocol.Request, err *table.Error) protocol.Response
}

var _ Protocol = (*protocol.Handler)(nil)

// Handler serves events. Use Invoke for Function URLs in the mode BUFFERED and for the other front doors, and Stream for
// Function URLs in the mode RESPONSE_STREAM:
//
//	lambda.Start(h)        // buffered: a Handler is a lambda.Handler
//	lambda.Start(h.Stream)
//
// It is safe for concurrent use.
type Handler struct {
	// Protocol should limit pages to PageBytes[0]. If only Stream is used, the default limit of a protocol.Handler is
	// sufficient.
	Protocol Protocol
	// Narrow contains protocols that serve the same tables with shorter pages. If a response is too large, they are
	// tried in order. If Narrow is empty, a response that is too large is an error.
	Narrow []Protocol
	// Secret returns the value that a trusted proxy sends in [SecretHeader]. It is called only for requests with this
	// header. If it is nil or returns an error, no proxy is trusted.
	Secret func(ctx context.Context) (string, error)
	// Observe, if not nil, is called with every response before the response's memory is released. It must not retain
	// any part of the Response.
	Observe func(ctx context.Context, o *Observation)
	// Task handles an event that is not an HTTP request, such as a scheduled event. If it is nil, such an event is an
	// error.
	Task func(ctx context.Context, event json.RawMessage) error
}

// Observation describes a request that was served.
type Observation struct {
	Door string // one of function-url, http-api, rest-api and load-balancer
	// Response is the response with a complete summary. Its field Sent is the number of bytes passed to Lambda: the
	// whole answer, or the body of the stream.
	Response *protocol.Response
	Narrowed int // number of times that the request was repeated because its response was too large
}

// margin is how long before the function's deadline the handler ends a request, so that it can still respond with an
// error.
const margin = 500 * time.Millisecond

// withMargin returns a context that ends before Lambda terminates the function.
func withMargin(ctx context.Context) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, end.Add(-min(margin, time.Until(end)/4)))
}

// open decodes an event, and applies the headers of a trusted proxy.
func (h *Handler) open(ctx context.Context, event []byte) (protocol.Request, door, error) {
	req, d, err := decode(event)
	if err == nil {
		h.applyForwarded(ctx, &req)
	}
	return req, d, err
}

// Invoke serves an event and returns the whole answer. It returns an error if the event is not a valid HTTP request, or
// if Task fails. Lambda then regards the call as failed.
func (h *Handler) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	begin := time.Now()
	req, door, err := h.open(ctx, event)
	if errors.Is(err, errNoHTTP) && h.Task != nil {
		return []byte("null"), h.Task(ctx, event)
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := withMargin(ctx)
	defer cancel()
	server, narrow, narrowed := h.Protocol, h.Narrow, 0
	if req.Method != http.MethodGet {
		narrow = nil // only reads are repeated
	} else if n := len(narrow); door.narrow && n > 0 {
		server, narrow = narrow[n-1], nil
	}
	resp := h.serve(ctx, server, &req, &door)
	answer := door.encodeResponse(req.Method, &resp)
	for ; answer == nil && len(narrow) > 0; narrow = narrow[1:] {
		resp.Release()
		resp = h.serve(ctx, narrow[0], &req, &door)
		answer = door.encodeResponse(req.Method, &resp)
		narrowed++
	}
	if answer == nil {
		refusal := h.Protocol.Refuse(&req, tooLarge(req.Method, &resp, &door))
		refusal.CopyRequest(&resp.Summary)
		resp.Release()
		resp = refusal
		answer = door.encodeResponse(req.Method, &resp)
	}
	resp.Received, resp.Sent, resp.Duration = int(max(req.ContentLength, 0)), len(answer), time.Since(begin)
	h.observe(ctx, &Observation{Door: door.name, Response: &resp, Narrowed: narrowed})
	resp.Release()
	return answer, nil
}

// serve serves a request. It refuses a request through a front door that changes paths.
func (h *Handler) serve(ctx context.Context, server Protocol, req *protocol.Request, d *door) protocol.Response {
	if d.closed {
		return server.Refuse(req, table.NotImplemented.With("This request came through an API Gateway HTTP API, "+
			"which decodes the escapes in paths: the server would read wrong keys, and every signature would be wrong. "+
			"Use a Function URL, a REST API or a load balancer."))
	}
	resp := server.Serve(ctx, req)
	if resp.Disconnect {
		resp.Release()
		return protocol.Response{Status: http.StatusBadGateway, Disconnect: true, Summary: resp.Summary}
	}
	return resp
}

// tooLarge returns the error for a response that is too large to send. For a write, the error says that the operation
// was executed.
func tooLarge(method string, resp *protocol.Response, d *door) *table.Error {
	what := fmt.Sprintf("The response has %d bytes, but this front end allows at most %d: ", len(resp.Body), d.limit)
	if method == http.MethodGet {
		return table.NotImplemented.With(what + "request less with $top or $select, or use a Function URL that streams responses.")
	}
	return table.InternalError.With(what + "the operation was carried out. Send Prefer: return-no-content, or smaller batches.")
}

func (h *Handler) observe(ctx context.Context, o *Observation) {
	if h.Observe != nil {
		h.Observe(ctx, o)
	}
}
