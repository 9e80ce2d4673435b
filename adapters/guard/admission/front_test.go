package admission_test

import (
	"context"

	"edgetable/adapters/guard/admission"
	"edgetable/core/protocol"
)

// works is the handler behind the Limiter. The handler serves a request after the request has
// got a slot.
type works interface {
	Serve(ctx context.Context, req *protocol.Request) protocol.Response
}

// front is a server that gives each request a slot while it is served. The account of a request is its host.
type front struct {
	*admission.Limiter
	works
	cost func(*protocol.Request) int64
}

func limited(w works, o admission.Options) front {
	return front{admission.New(new(protocol.Handler), o), w, func(*protocol.Request) int64 { return 1 }}
}

func (f front) Serve(ctx context.Context, req *protocol.Request) protocol.Response {
	w := protocol.Work{Payer: req.Host, IsAccount: req.Host != "", Write: req.Method != "GET" && req.Method != "HEAD", Cost: f.cost(req)}
	t, waited := f.Begin(ctx, w)
	if t == nil {
		return protocol.Response{Status: 503, Summary: protocol.Summary{Refused: protocol.RefusedQueue, Waited: waited}}
	}
	defer func() { t.End(f.cost(req)) }()
	resp := f.works.Serve(ctx, req)
	resp.Waited = waited
	return resp
}

// takeTurn waits for a slot.
func takeTurn(l *admission.Limiter, ctx context.Context, w protocol.Work) protocol.Turn {
	t, _ := l.Begin(ctx, w)
	return t
}
