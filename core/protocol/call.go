package protocol

import (
	"bytes"
	"context"

	"edgetable/core/multipart"
	"edgetable/core/payload"
	"edgetable/core/sas"
	"edgetable/core/table"
)

// call is one operation: a request, or one operation of a batch. Its input is
// not decoded yet. Its answer has no headers of the connection.
type call struct {
	*exchange
	target  string // set in a batch only; decode derives route and options from it
	route   route
	options *options
	verb    string
	header  fields
	representation
	body      func() ([]byte, error)
	contentID string

	// Set while the operation runs:
	operation string
	prefer    preference
}

// answer is the result of a successful operation.
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

// name returns the full name of the call's table.
func (c *call) name() table.Name {
	return table.Name{Account: c.address.account, Table: c.route.table}
}

// permit returns an error if the operation is not allowed or if the server
// cannot answer in the requested format. Every operation calls it first.
func (c *call) permit(op sas.Operation, tableName string) error {
	if err := c.allow(op, tableName); err != nil {
		return err
	}
	return c.formatErr
}

// sent checks the media type of the body and then reads the body.
func (c *call) sent() ([]byte, payload.Format, error) {
	contentType := c.header.Get("Content-Type")
	f, err := c.requestFormat(contentType)
	if err != nil {
		return nil, f, err
	}
	body, err := c.body()
	if contentType == "" && c.version == "" && bytes.HasPrefix(bytes.TrimLeft(body, "\xef\xbb\xbf \r\n"), []byte("<")) {
		f = payload.Atom // the client sent neither a type nor a version
	}
	return body, f, err
}

// created makes the answer to an insert: 201 with the content, or 204 without
// it if the client prefers that.
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
	// This cannot fail: an entity that cannot be shown was refused before it
	// was stored.
	_ = c.addBody(&a, &body)
	return a
}

// content describes a body that is not written yet.
type content struct {
	of     string // the name of a table, or "Tables"
	feed   bool   // the body is a list
	fields *payload.Projection
	size   int // estimated length, 0 for a short body
	write  func(dst []byte, v *payload.View) []byte
}

// withBody adds a body to an answer. It fails if the format of the call cannot
// represent the content.
func (c *call) withBody(a answer, body content) (answer, error) {
	if err := c.addBody(&a, &body); err != nil {
		a.release()
		return answer{}, err
	}
	return a, nil
}

// addBody adds a body in the format of the call, in memory that is reused.
func (c *call) addBody(a *answer, body *content) error {
	v := payload.View{Format: c.format, Base: c.base, Account: c.address.account, Table: body.of, Select: body.fields, Now: c.now}
	buf := sized(body.size)
	*buf = body.write((*buf)[:0], &v)
	a.body = *buf
	a.release = func() { keep(buf) }
	a.header = append(a.header, Field{Name: "Content-Type", Value: c.format.ContentType(body.feed)})
	return v.Err()
}

// dataServiceVersion returns the OData version of a part with content.
func (c *call) dataServiceVersion() string {
	if c.format == payload.Atom {
		return "1.0;"
	}
	return "3.0;"
}
