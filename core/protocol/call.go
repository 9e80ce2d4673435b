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

// call is one operation: a whole request, or one operation of a batch.
type call struct {
	*exchange
	part    *multipart.Operation
	header  Fields
	options address.Options
	route   address.Route
	negotiate.Representation

	operation *operation // operation that the method find has selected
	verb      verb       // verb in X-HTTP-Method if present, otherwise the verb of the method
	prefer    negotiate.Preference
}

// operation describes one operation of the protocol. The fields resource, verb and ifMatch determine which requests it
// serves.
type operation struct {
	resource address.Resource
	verb     verb // the accepted verbs
	ifMatch  bool // whether If-Match must be present
	// name identifies the operation in logs, metrics, limits and simulated faults.
	name string
	// right is the permission that a shared access signature must grant. If right is empty, no shared access signature
	// permits the operation.
	right    sas.Right
	audience audience
	since    string // first protocol version with the operation, or "" for all versions
	write    bool
	action   table.Action // kind of write, if the operation writes one entity
	// otherFormat means that the answer is neither JSON nor ATOM. The headers Accept and Prefer are then ignored.
	otherFormat bool
	// inParts means that permissions are checked for each operation of a batch and not for the batch as a whole.
	inParts bool
	run     func(*call, context.Context) (answer, error)
}

type answer struct {
	status  int
	header  multipart.Header
	body    []byte
	release func()
}

func (c *call) name() table.Name {
	return table.Name{Account: c.address.Account, Table: c.route.Table}
}

// body returns the body of the operation. It reads the request body unless inTurn has already done so.
func (c *call) body() ([]byte, error) {
	if c.part != nil {
		return c.part.Body, nil
	}
	if c.whole.read {
		return c.whole.b, c.whole.err
	}
	return c.readBody()
}

// readTypedBody returns the body and its format, which it takes from the media type.
func (c *call) readTypedBody() ([]byte, payload.Format, error) {
	contentType := c.header.Get("Content-Type")
	f, err := c.RequestFormat(contentType)
	if err != nil {
		return nil, f, err
	}
	body, err := c.body()
	if contentType == "" && c.Version == "" && bytes.HasPrefix(bytes.TrimLeft(body, "\xef\xbb\xbf \r\n"), []byte("<")) {
		f = payload.Atom // without Content-Type and x-ms-version, the body may be ATOM
	}
	return body, f, err
}

// insertAnswer returns the answer to an insert: status 201 with the new entity or table, or status 204 without a body
// if the client prefers that.
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
	// addBody cannot fail here: an entity that the format cannot represent was rejected before the write.
	_ = c.addBody(&a, &body)
	return a
}

// content describes the body of an answer before the body is encoded.
type content struct {
	of     string // the name of a table, or "Tables"
	feed   bool
	fields *payload.Projection
	size   int // estimated length in bytes; 0 for a short body
	write  func(dst []byte, v *payload.View) []byte
}

// withBody adds a body to an answer. If the format of the call cannot represent the content, withBody releases the
// answer and returns an error.
func (c *call) withBody(a answer, body content) (answer, error) {
	if err := c.addBody(&a, &body); err != nil {
		a.release()
		return answer{}, err
	}
	return a, nil
}

// addBody encodes a body in the format of the call. It appends to c.bodies if this field is set, and otherwise uses a
// buffer from the pool.
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

// dataServiceVersion returns the value of DataServiceVersion for a part with a body in a batch response.
func (c *call) dataServiceVersion() string {
	if c.Format == payload.Atom {
		return "1.0;"
	}
	return "3.0;"
}
