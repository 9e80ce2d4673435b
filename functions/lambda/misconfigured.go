package main

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"

	"edgetable/adapters/transport/lambdaurl"
	"edgetable/core/protocol"
	"edgetable/core/table"
)

// misconfiguredServer takes the place of a server whose configuration is wrong.
type misconfiguredServer struct {
	protocol.Handler
	cause error
}

// newMisconfigured returns a handler that answers each request with InternalError, and fails every other event with
// cause.
func newMisconfigured(cause error, namespace string, log *slog.Logger) *lambdaurl.Handler {
	return &lambdaurl.Handler{
		Protocol: &misconfiguredServer{protocol.Handler{
			Service:  new(table.Service), // never reached by a request
			Accounts: func(string) (*protocol.Account, bool) { return nil, false },
			Now:      now, NewID: newID,
		}, cause},
		Observe: newMetrics(cmp.Or(namespace, usualMetrics), "", log).observe,
		Task:    func(context.Context, json.RawMessage) error { return cause },
	}
}

// Serve implements lambdaurl.Protocol.
func (m *misconfiguredServer) Serve(_ context.Context, req *protocol.Request) protocol.Response {
	return m.Refuse(req, table.InternalError.Because(m.cause))
}
