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

// misconfiguredServer replaces the server if the configuration is wrong.
type misconfiguredServer struct {
	protocol.Handler
	cause error
}

// newMisconfigured returns a handler for a misconfigured function. It answers HTTP requests with InternalError, and
// returns cause for any other event.
func newMisconfigured(cause error, namespace string, log *slog.Logger) *lambdaurl.Handler {
	return &lambdaurl.Handler{
		Protocol: &misconfiguredServer{protocol.Handler{
			Service:  new(table.Service), // no request reaches the embedded Handler
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
