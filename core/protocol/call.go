package protocol

import (
	"bytes"
	"context"

	"edgetable/core/address"
	"edgetable/core/multipart"
	"edgetable/core/negotiate"
	"edgetable/core/payload"
	"edgetable/core/sas"
	"edgetable/core/table"
)

// call is one operation: the operation of the whole request, or one operation of a batch. The answer to a
// call lacks the headers that belong to the whole response.
type call struct {
	*exchange
	part    *multipart.Operation // the part of the batch with this operation; nil if the request is no batch
	header  Fields
	options address.Options
	route   address.Route
	negotiate.Representation

	operation *operation // the method find sets this field
	verb      verb       // the verb in X-HTTP-Method or, without that header, the method
	prefer    negotiate.Preference
}

// operation is one row of the table of operations. The row determines which requests are this operation, and
// how the operation differs from the others.
type operation struct {
	resource address.Resource
	verb     verb // one or more verbs; a request must have one of them
	ifMatch  bool // whether a request must have the header If-Match
	// name identifies the operation in logs, metrics, limits and simulated faults.
	name string
	// right is the permission that a shared access signature must grant. If right is empty, a request with a
	// shared access signature is not permitted.
	right    sas.Right
	audience audience
	since    string // the first protocol version with the operation; "" means all versions
	write    bool
	action   table.Action // for a write to one entity: insert, delete and so on
	// otherFormat is set if the answer is neither JSON nor ATOM. The headers Accept and Prefer then have no effect.
	otherFormat bool
	// inParts is set if permissions are checked for each operation of a batch, and not for the whole batch.
	inParts bool
	run     func(*call, context.Context) (answer, error)
}

// answer is the result of a successful operation.
type answer struct {
	status  int
	header  multipart.Header
	body    []byte
	release func()
}

func (c *call) name() table.Name {
	return table.Name{Account: c.address.Account, Table: c.route.Table}
}

// body returns the body of the operation. It reads the body of the request if that is not yet in memory.
func (c *call) body() ([]byte, error) {
	if c.part != nil {
		return c.part.Body, nil
	}
	if c.whole.read {
		return c.whole.b, c.whole.err
	}
	return c.readBody()
}

// readTypedBody checks the media type of the body, and returns the body and its format.
func (c *call) readTypedBody() ([]byte, payload.Format, error) {
	contentType := c.header.Get("Content-Type")
	f, err := c.RequestFormat(contentType)
	if err != nil {
		return nil, f, err
	}
	body, err := c.body()
	if contentType == "" && c.Version == "" && bytes.HasPrefix(bytes.TrimLeft(body, "\xef\xbb\xbf \r\n"), []byte("<")) {
		f = payload.Atom // a client that sends neither Content-Type nor x-ms-version may send ATOM
	}
	return body, f, err
}

// insertAnswer returns the answer to an insert. The status is 201 with the new entity or table in the body,
// or 204 without a body if the client prefers that.
func (c *call) insertAnswer(location string, extra multipart.Header, body content) answer {
	a := answer{status: 201, header: make(multipart.Header, 0, 4)}
	if c.prefer == negotiate.ReturnNoContent {
		a.status = 204
		a.header = append(a.header, Field{Name: "Location", Value: location}, Field{Name: "DataServiceId", Value: location})
		a.header = append(a.header, extra...)
		return a
	}
	a.header = append(a.header, Field{Name: "Location", Value: location})
	a.header = append(a.header, extra...)
	// addBody cannot fail here: an entity that the format cannot represent was refused before the write.
	_ = c.addBody(&a, &body)
	return a
}

// content describes the body of an answer before the body is encoded.
type content struct {
	of     string // the name of a table, or "Tables"
	feed   bool   // whether the body is a list of entities or tables
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

// addBody encodes a body in the format of the call. It uses a buffer from the pool.
func (c *call) addBody(a *answer, body *content) error {
	v := payload.View{Format: c.Format, Base: c.base, Account: c.address.Account, Table: body.of, Select: body.fields, Now: c.now}
	buf := c.bodies
	if buf == nil {
		buf = c.getBuffer(body.size)
		a.release = func() { c.putBuffer(buf) }
	}
	begin := len(*buf)
	*buf = body.write(*buf, &v)
	a.body = (*buf)[begin:len(*buf):len(*buf)]
	a.header = append(a.header, Field{Name: "Content-Type", Value: c.Format.ContentType(body.feed)})
	return v.Err()
}

// dataServiceVersion returns the header DataServiceVersion for a part with a body in a batch response.
func (c *call) dataServiceVersion() string {
	if c.Format == payload.Atom {
		return "1.0;"
	}
	return "3.0;"
}
