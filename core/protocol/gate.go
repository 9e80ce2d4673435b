package protocol

import (
	"context"
	"errors"
)

// Gate decides about each authorized operation before it runs. It may block for
// a while. If it returns an error, the operation does not run and the error is
// the answer.
type Gate interface {
	Admit(ctx context.Context, a *Access) error
}

// Access describes an operation for a Gate.
type Access struct {
	Account   string
	Operation string // same as Response.Operation
	Table     string // as spelled in the request; "" if the request names no table
	// PartitionKey is set if HasPartition, that is for writes and for reads by
	// key.
	PartitionKey string
	HasPartition bool
	Write        bool
	Entities     int // number of entities written or read by key; 1 for a query
}

// ErrCut is returned by a Gate to have the connection closed without a response. The operation does not run.
var ErrCut = errors.New("protocol: connection closed before the operation")

// ErrCutAfter is returned by a Gate to have the connection closed without a response after the operation has run.
var ErrCutAfter = errors.New("protocol: connection closed after the operation")
