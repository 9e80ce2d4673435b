package protocol

import (
	"context"
	"errors"

	"edgetable/core/table"
)

// Gate is asked before an authorized operation is done. It may block for a
// while, and the error it returns is the answer instead of the operation.
type Gate interface {
	Admit(ctx context.Context, a *Access) error
}

// Access is what a request is about to do.
type Access struct {
	Account   string
	Operation string // as in Response.Operation
	Table     string // as the request spells it, "" where none is meant
	// PartitionKey is known if HasPartition: of writes and of reads by key.
	PartitionKey string
	HasPartition bool
	Write        bool
	Entities     int // written or read by key; 1 for a query
}

// ErrCut as an answer of a Gate hangs up without an answer, and nothing is done.
var ErrCut = errors.New("protocol: cut off before the operation")

// ErrCutAfter does the operation and then hangs up without an answer.
var ErrCutAfter = errors.New("protocol: cut off after the operation")

// AccountName is the account a request is addressed to, or "" if there is none
// of this name. Nothing about the request is verified.
func (h *Handler) AccountName(req *Request) string {
	a, ok := locate(parseTarget(req.Target), req.Host, h.PathStyle)
	if !ok {
		return ""
	}
	if _, ok := h.Accounts(a.account); !ok {
		return ""
	}
	return a.account
}

// Refuse is the response to a request that nobody looked into, with an error
// in the form that Serve would have given it.
func (h *Handler) Refuse(req *Request, err *table.Error) Response {
	x := h.begin(req)
	x.fail(x.front(err))
	return x.resp
}
