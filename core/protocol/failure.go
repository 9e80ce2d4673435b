package protocol

import (
	"context"
	"errors"

	"edgetable/core/multipart"
	"edgetable/core/odata"
	"edgetable/core/table"
)

// fault is an error of the front: the address, the verb, the authentication. It
// is answered before there is a version or a format.
type fault struct{ err error }

func (f fault) Error() string { return f.err.Error() }

func (x *exchange) front(err error) error { return fault{err} }

// queryError names an error of $filter, $select or $top.
func queryError(err error) error {
	if errors.Is(err, odata.ErrNotImplemented) {
		return table.NotImplemented.With(err.Error())
	}
	return table.InvalidInput.With(err.Error())
}

// asError makes one of the protocol's errors of any.
func asError(err error) *table.Error {
	var e *table.Error
	if errors.As(err, &e) {
		return e
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return table.OperationTimedOut.Err()
	}
	return table.InternalError.Because(err)
}

// fail makes the response an error.
func (x *exchange) fail(err error) {
	r := &x.resp
	contentType := x.format.ContentType()
	if f := (fault{}); errors.As(err, &f) {
		err = f.err
		r.add("Server", "Microsoft-HTTPAPI/2.0")
		contentType = "application/json" // bare, as nothing was negotiated yet
	} else if p := x.prefer.String(); p != "" {
		r.add("Preference-Applied", p)
	}
	e := asError(err)
	r.Status, r.Code = e.Status(), string(e.Code)
	if e.Code == table.InternalError {
		r.Err = e.Unwrap()
	}
	r.add("x-ms-error-code", r.Code)
	switch e.Code {
	case table.NoAuthenticationInformation:
		r.add("WWW-Authenticate", "SharedKey")
	case table.ServerBusy:
		r.add("Retry-After", "1")
	}
	r.add("Content-Type", contentType)
	r.Body = x.format.AppendError(nil, e, r.RequestID, x.now)
}

// failPart makes an error a part of a batch's response.
func (x *exchange) failPart(c *call, e *table.Error) multipart.Response {
	x.resp.Code = string(e.Code)
	if e.Code == table.InternalError {
		x.resp.Err = e.Unwrap()
	}
	h := partHeader(c.contentID)
	if e.Code == table.TableNotFound {
		h = h[:len(h)-1] // the service finds no table before it has these headers
	} else if p := c.prefer.String(); p != "" {
		h = append(h, Field{Name: "Preference-Applied", Value: p})
	}
	h = append(h,
		Field{Name: "DataServiceVersion", Value: "3.0;"},
		Field{Name: "Content-Type", Value: c.format.ContentType()})
	return multipart.Response{
		Status: e.Status(), Header: h,
		Body: c.format.AppendError(nil, e, x.resp.RequestID, x.now),
	}
}
