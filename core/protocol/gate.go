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
	Table     string // as spelled in the request, "" if it names none
	// PartitionKey is set if HasPartition, that is for writes and for reads by
	// key.
	PartitionKey string
	HasPartition bool
	Write        bool
	Entities     int // number of entities written or read by key; 1 for a query
}

// ErrCut is what a Gate returns to have the connection closed without the operation and without a response.
var ErrCut = errors.New("protocol: cut off before the operation")

// ErrCutAfter is what a Gate returns to have the operation run, and the connection then closed without a response.
var ErrCutAfter = errors.New("protocol: cut off after the operation")
