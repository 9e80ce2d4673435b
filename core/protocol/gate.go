package protocol

import (
	"context"
	"errors"
)

// Gate decides whether an authorized operation may run. Admit may block. If Admit returns an error, the operation does
// not run and the client receives the error.
type Gate interface {
	Admit(ctx context.Context, a *Access) error
}

// Access describes an operation for a Gate.
type Access struct {
	Account   string
	Operation string // name of the operation as in Response.Operation, such as "InsertEntity"
	Table     string // table name as spelled in the request, or "" if the request names no table
	// PartitionKey is valid if HasPartition is set. HasPartition is set for writes of entities and reads of one entity.
	PartitionKey string
	HasPartition bool
	Write        bool
	Entities     int // number of entities in a write of entities; 1 for any other operation
}

// ErrCut is returned by a Gate to close the connection without a response. The operation does not run.
var ErrCut = errors.New("protocol: connection closed before the operation")

// ErrCutAfter is returned by a Gate to run the operation and then close the connection without a response.
var ErrCutAfter = errors.New("protocol: connection closed after the operation")
