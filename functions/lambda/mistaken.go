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

// mistaken replaces a server whose configuration is wrong.
type mistaken struct {
	protocol.Handler
	cause error
}

// newMistaken answers as the protocol has it that nothing can be done, and fails
// every other event.
func newMistaken(cause error, namespace string, log *slog.Logger) *lambdaurl.Handler {
	return &lambdaurl.Handler{
		Protocol: &mistaken{protocol.Handler{
			Accounts: func(string) (*protocol.Account, bool) { return nil, false },
			Now:      now, NewID: newID,
		}, cause},
		Observe: newMetrics(cmp.Or(namespace, usualMetrics), "", log).observe,
		Task:    func(context.Context, json.RawMessage) error { return cause },
	}
}

// Serve implements lambdaurl.Protocol.
func (m *mistaken) Serve(_ context.Context, req *protocol.Request) protocol.Response {
	return m.Refuse(req, table.InternalError.Because(m.cause))
}
