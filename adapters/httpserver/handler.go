package httpserver

import (
	"bytes"
	"context"
	"io"
	"time"
	"unsafe"

	"github.com/valyala/fasthttp"

	"edgetable/core/protocol"
)

// Protocol is what serves the requests; *protocol.Handler is one.
type Protocol interface {
	Serve(ctx context.Context, req *protocol.Request) protocol.Response
}

// Observer is told of every response before its memory is given back; it must
// not keep anything of the Response.
type Observer func(method string, resp *protocol.Response, took time.Duration)

// handler is a protocol as a fasthttp.RequestHandler.
type handler struct {
	protocol   Protocol
	context    context.Context
	secure     bool
	trustProxy bool
	observe    Observer // may be nil
}

func (h *handler) serve(c *fasthttp.RequestCtx) {
	begin := time.Now()
	head := &c.Request.Header
	req := protocol.Request{
		Method: string(head.Method()),
		Target: string(head.RequestURI()),
		Host:   string(head.Host()),
		Scheme: "http",
		Header: fields{head},
	}
	if h.secure {
		req.Scheme = "https"
	}
	if h.trustProxy {
		if s := string(head.Peek("X-Forwarded-Proto")); s == "http" || s == "https" {
			req.Scheme = s
		}
		if s := head.Peek("X-Forwarded-Host"); len(s) > 0 {
			req.Host = string(s)
		}
	}
	req.ContentLength = int64(head.ContentLength())
	if req.ContentLength != 0 {
		// -1 is a chunked body. Only what is not here yet is read from the
		// connection, and only when the protocol asks for it.
		req.Body = c.RequestBodyStream()
	}
	resp := h.protocol.Serve(h.context, &req)
	if h.observe != nil {
		h.observe(req.Method, &resp, time.Since(begin))
	}
	send(&c.Response, &resp)
}

// fields reads headers where fasthttp has them. What it returns is good until
// the request is answered, as the protocol wants it.
type fields struct{ *fasthttp.RequestHeader }

func (f fields) Get(name string) string { return view(f.Peek(name)) }

func (f fields) Values(name string) []string {
	list := f.PeekAll(name)
	if len(list) == 0 {
		return nil
	}
	values := make([]string, len(list))
	for i, v := range list {
		values[i] = view(v)
	}
	return values
}

func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// copied is the size up to which a body is cheaper to copy than to hold until
// it was sent.
const copied = 16 << 10

// send hands over the response with its field names as they are: clients are
// known that look for their case.
func send(r *fasthttp.Response, resp *protocol.Response) {
	r.Header.DisableNormalizing()
	r.SetStatusCode(resp.Status)
	for _, f := range resp.Header {
		r.Header.Set(f.Name, f.Value)
	}
	if len(resp.Body) <= copied {
		r.SetBody(resp.Body)
		resp.Release()
		return
	}
	r.SetBodyStream(&body{Reader: *bytes.NewReader(resp.Body), release: resp.Release}, len(resp.Body))
}

// body is a large body on its way out. It is closed when it was sent, or could
// not be.
type body struct {
	bytes.Reader
	release func()
}

var _ io.WriterTo = (*body)(nil)

func (b *body) Close() error {
	b.release()
	return nil
}
