package protocol

import (
	"context"
	"errors"
)

// Gate decides about each authorized operation before it runs. Admit may block for a while. If Admit returns an
// error, the operation does not run, and the client gets this error.
type Gate interface {
	Admit(ctx context.Context, a *Access) error
}

// Access describes an operation for a Gate.
type Access struct {
	Account   string
	Operation string // the same as Response.Operation: a name such as "InsertEntity"
	Table     string // as spelled in the request; "" if the request names no table
	// A write of entities or a read of one entity has a PartitionKey, and then HasPartition is true.
	PartitionKey string
	HasPartition bool
	Write        bool
	Entities     int // number of entities that a write changes; 1 for any other operation
}

// ErrCut is the error with which a Gate makes the transport close the connection without a response. The
// operation does not run.
var ErrCut = errors.New("protocol: connection closed before the operation")

// ErrCutAfter is the error with which a Gate lets the operation run, and then makes the transport close the
// connection without a response.
var ErrCutAfter = errors.New("protocol: connection closed after the operation")
