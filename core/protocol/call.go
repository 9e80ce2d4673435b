package protocol

import (
	"bytes"

	"edgetable/core/multipart"
	"edgetable/core/payload"
	"edgetable/core/table"
)

// call is one operation: the operation of the request, or one in a batch. Its input is
// not decoded yet. Its answer lacks the headers that belong to the connection.
type call struct {
	*exchange
	part    *multipart.Operation // the part of the batch with this operation; nil if there is no batch
	header  fields
	options options
	route   route
	representation

	operation *operation // set by find
	verb      verb       // the verb in X-HTTP-Method, or else the method
	prefer    preference
}

// answer is the result of a successful operation.
type answer struct {
	status  int
	header  multipart.Header
	body    []byte
	release func()
}

// name returns the full name of the call's table.
func (c *call) name() table.Name {
	return table.Name{Account: c.address.Account, Table: c.route.table}
}

// body reads the body of the call.
func (c *call) body() ([]byte, error) {
	if c.part != nil {
		return c.part.Body, nil
	}
	if c.whole.read {
		return c.whole.b, c.whole.err
	}
	return c.readBody()
}

// sent checks the media type of the body and then reads the body.
func (c *call) readTypedBody() ([]byte, payload.Format, error) {
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
func (c *call) insertAnswer(location string, extra multipart.Header, body content) answer {
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
	feed   bool   // whether the body is a list
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
	v := payload.View{Format: c.format, Base: c.base, Account: c.address.Account, Table: body.of, Select: body.fields, Now: c.now}
	buf := c.bodies
	if buf == nil {
		buf = c.getBuffer(body.size)
		a.release = func() { c.putBuffer(buf) }
	}
	begin := len(*buf)
	*buf = body.write(*buf, &v)
	a.body = (*buf)[begin:len(*buf):len(*buf)]
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
