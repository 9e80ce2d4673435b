package remote

import (
	"context"
	"net/http"

	"edgetable/core/multipart"
	"edgetable/core/payload"
)

// Kind is the effect of an operation.
type Kind uint8

const (
	// Insert creates the entity, which must not exist.
	Insert Kind = iota
	// Merge creates the entity, or adds the properties to the existing entity.
	Merge
	// Replace creates or replaces the entity.
	Replace
	// Delete removes the entity, which must exist.
	Delete
)

// Operation is a write of one entity.
type Operation struct {
	Kind                 Kind
	PartitionKey, RowKey string
	Body                 []byte // entity in the form of [payload.AppendJSON]; nil for Delete
}

// Limits of a batch: the number of operations, and the sum of their weights.
const (
	MaxOperations = 100
	MaxWeight     = 4<<20 - 4<<10
)

// Weight returns an upper bound of the number of bytes that the operation adds to a batch.
func (o *Operation) Weight() int {
	const frame = 512 // upper bound for the headers and for the URL without the keys; the URL contains at most three bytes for each byte of a key
	return frame + len(o.Body) + 3*(len(o.PartitionKey)+len(o.RowKey))
}

const (
	batchBoundary     = "batch_edgetable"
	changesetBoundary = "changeset_edgetable"
)

var (
	writeHeader = multipart.Header{{Name: "Content-Type", Value: contentJSON}, {Name: "Accept", Value: acceptJSON},
		{Name: "Prefer", Value: "return-no-content"}, {Name: "DataServiceVersion", Value: "3.0;"}}
	deleteHeader = multipart.Header{{Name: "Accept", Value: acceptJSON}, {Name: "If-Match", Value: "*"}, {Name: "DataServiceVersion", Value: "3.0;"}}
)

func (k Kind) method() string { return [...]string{"POST", "MERGE", "PUT", "DELETE"}[k] }

// Write executes one operation.
func (c *Client) Write(ctx context.Context, table string, o *Operation) error {
	r := request{method: o.Kind.method(), body: o.Body, contentType: contentJSON, path: entityPath(table, o.PartitionKey, o.RowKey)}
	switch o.Kind {
	case Insert:
		r.path = "/" + table
	case Delete:
		r.match, r.contentType = "*", ""
	}
	_, err := c.send(ctx, r, nil)
	return err
}

// Batch executes up to [MaxOperations] operations in one partition as one transaction. If the service rejects an
// operation, the *[Error] contains its index.
func (c *Client) Batch(ctx context.Context, table string, ops []Operation) error {
	if len(ops) == 1 {
		err := c.Write(ctx, table, &ops[0])
		if e, ok := err.(*Error); ok {
			e.Index = 0
		}
		return err
	}
	base := c.endpoint.url.String() + "/"
	size := 0
	for i := range ops {
		size += ops[i].Weight()
	}
	part := multipart.Part{Changeset: true, Operations: make([]multipart.Operation, len(ops))}
	var targets []byte
	for i := range ops {
		o := &ops[i]
		m := multipart.Operation{Method: o.Kind.method(), Header: writeHeader, Body: o.Body}
		switch o.Kind {
		case Insert:
			m.Target = base + table
		case Delete:
			m.Header = deleteHeader
			fallthrough
		default:
			targets = payload.AppendEntityURI(targets[:0], base, table, o.PartitionKey, o.RowKey)
			m.Target = string(targets)
		}
		part.Operations[i] = m
	}
	body := multipart.AppendBatch(make([]byte, 0, size), batchBoundary, changesetBoundary, &multipart.Batch{Parts: []multipart.Part{part}})
	_, err := c.send(ctx, request{
		method: http.MethodPost, path: "/$batch", contentType: "multipart/mixed; boundary=" + batchBoundary, body: body,
		check: func(r *response) *Error { return batchError(r.body) },
	}, nil)
	return err
}
