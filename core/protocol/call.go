package protocol

import (
	"context"

	"edgetable/core/multipart"
	"edgetable/core/payload"
	"edgetable/core/table"
)

// call is one operation: a request, or an operation of a batch. What it is
// given is undecoded; its answer has no headers of the connection.
type call struct {
	*exchange
	target    string // of an operation of a batch, until open has decoded it into the next two
	route     route
	options   *options
	verb      string
	header    fields
	format    payload.Format
	version   string
	body      func() ([]byte, error)
	contentID string

	// Found on the way:
	operation string
	prefer    preference
}

// answer is a successful outcome.
type answer struct {
	status  int
	header  multipart.Header
	body    []byte
	release func()
}

// do runs the operation.
func (c *call) do(ctx context.Context) (answer, error) {
	switch c.route.resource {
	case tableSet:
		switch c.verb {
		case "GET":
			return c.queryTables(ctx)
		case "POST":
			return c.createTable(ctx)
		}
	case oneTable:
		switch c.verb {
		case "GET":
			return c.getTable(ctx)
		case "DELETE":
			return c.deleteTable(ctx)
		}
	case entitySet:
		switch c.verb {
		case "GET":
			return c.queryEntities(ctx)
		case "POST":
			return c.insert(ctx)
		}
	case oneEntity:
		switch c.verb {
		case "GET":
			return c.getEntity(ctx)
		case "PUT", "MERGE", "PATCH", "DELETE":
			return c.write(ctx)
		}
	case root:
		return answer{}, table.InvalidQueryParameterValue.With("Value for one of the query parameters specified in the request URI is invalid. The address names no resource: add /Tables or the name of a table.")
	case metadata:
		return answer{}, table.ResourceNotFound.Err()
	}
	return answer{}, table.MethodNotAllowed.Err()
}

// name is the table of the call.
func (c *call) name() table.Name {
	return table.Name{Account: c.address.account, Table: c.route.table}
}

// consistency of a read: the secondary address may lag behind.
func (c *call) consistency() table.Consistency {
	if c.address.secondary {
		return table.Eventual
	}
	return table.Strong
}

// view is how the answer's entities or tables are shown.
func (c *call) view(of string, projection *payload.Projection) *payload.View {
	return &payload.View{Format: c.format, Base: c.base, Account: c.address.account, Table: of, Select: projection}
}

// content reads the body after its media type was judged.
func (c *call) content() ([]byte, error) {
	if err := checkContentType(c.header.Get("Content-Type")); err != nil {
		return nil, err
	}
	return c.body()
}

// created is the answer to an insert: 201 with the content, or 204 without,
// as the client preferred.
func (c *call) created(location string, extra multipart.Header, body func(dst []byte) []byte) answer {
	a := answer{status: 201}
	if p := c.prefer.String(); p != "" {
		a.header = append(a.header, Field{Name: "Preference-Applied", Value: p})
	}
	if c.prefer == returnNoContent {
		a.status = 204
		a.header = append(a.header, Field{Name: "DataServiceVersion", Value: "3.0;"},
			Field{Name: "Location", Value: location}, Field{Name: "DataServiceId", Value: location})
		a.header = append(a.header, extra...)
		return a
	}
	a.header = append(a.header, Field{Name: "Location", Value: location})
	a.header = append(a.header, extra...)
	return c.withBody(a, body)
}

// withBody adds a body in the call's format, in memory that is reused.
func (c *call) withBody(a answer, body func(dst []byte) []byte) answer {
	buf := buffers.Get().(*[]byte)
	*buf = body((*buf)[:0])
	a.body = *buf
	a.release = func() { keep(buf) }
	a.header = append(a.header, Field{Name: "Content-Type", Value: c.format.ContentType()})
	return a
}
