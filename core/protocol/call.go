package protocol

import (
	"bytes"
	"context"

	"edgetable/core/multipart"
	"edgetable/core/payload"
	"edgetable/core/sas"
	"edgetable/core/table"
)

// call is one operation: a request, or an operation of a batch. What it is
// given is undecoded; its answer has no headers of the connection.
type call struct {
	*exchange
	target  string // of an operation of a batch, until decode has made the next two of it
	route   route
	options *options
	verb    string
	header  fields
	representation
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
		if c.verb == "GET" {
			return c.getMetadata(ctx)
		}
	}
	return answer{}, table.MethodNotAllowed.Err()
}

// name is the table of the call.
func (c *call) name() table.Name {
	return table.Name{Account: c.address.account, Table: c.route.table}
}

// permit is the first thing every operation asks: whether it is allowed, then
// whether its answer can have the format that was asked for.
func (c *call) permit(op sas.Operation, tableName string) error {
	if err := c.allow(op, tableName); err != nil {
		return err
	}
	return c.formatErr
}

// sent reads the body after its media type was judged.
func (c *call) sent() ([]byte, payload.Format, error) {
	contentType := c.header.Get("Content-Type")
	f, err := c.requestFormat(contentType)
	if err != nil {
		return nil, f, err
	}
	body, err := c.body()
	if contentType == "" && c.version == "" && bytes.HasPrefix(bytes.TrimLeft(body, "\xef\xbb\xbf \r\n"), []byte("<")) {
		f = payload.Atom // of a client that says nothing about itself
	}
	return body, f, err
}

// created is the answer to an insert: 201 with the content, or 204 without,
// as the client preferred.
func (c *call) created(location string, extra multipart.Header, body content) answer {
	a := answer{status: 201, header: make(multipart.Header, 0, 4)}
	if c.prefer == returnNoContent {
		a.status = 204
		a.header = append(a.header, Field{Name: "Location", Value: location}, Field{Name: "DataServiceId", Value: location})
		a.header = append(a.header, extra...)
		return a
	}
	a.header = append(a.header, Field{Name: "Location", Value: location})
	a.header = append(a.header, extra...)
	// What cannot be shown was refused before it was stored.
	_ = c.addBody(&a, &body)
	return a
}

// content is a body yet to be written.
type content struct {
	of     string // name of a table, or "Tables"
	feed   bool   // a list of what of has
	fields *payload.Projection
	size   int // about how long it will be, 0 if it is short
	write  func(dst []byte, v *payload.View) []byte
}

// withBody adds a body to an answer, or fails where the call's format cannot
// hold what is in it.
func (c *call) withBody(a answer, body content) (answer, error) {
	if err := c.addBody(&a, &body); err != nil {
		a.release()
		return answer{}, err
	}
	return a, nil
}

// addBody adds a body in the call's format, in memory that is reused.
func (c *call) addBody(a *answer, body *content) error {
	v := payload.View{Format: c.format, Base: c.base, Account: c.address.account, Table: body.of, Select: body.fields, Now: c.now}
	buf := sized(body.size)
	*buf = body.write((*buf)[:0], &v)
	a.body = *buf
	a.release = func() { keep(buf) }
	a.header = append(a.header, Field{Name: "Content-Type", Value: c.format.ContentType(body.feed)})
	return v.Err()
}

// dataServiceVersion is OData's version of a part with content.
func (c *call) dataServiceVersion() string {
	if c.format == payload.Atom {
		return "1.0;"
	}
	return "3.0;"
}
