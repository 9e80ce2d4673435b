package protocol

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"edgetable/core/multipart"
	"edgetable/core/odata"
	"edgetable/core/payload"
	"edgetable/core/table"
)

// fault is an error of the front: the address, the verb, the authentication. It
// is answered before there is a version or a format.
type fault struct {
	err error
	xml bool // whatever was asked for
}

func (f fault) Error() string { return f.err.Error() }

func (x *exchange) front(err error) error { return fault{err: err} }

// misread is an error of a request that cannot be read. The service finds it before
// it sets Cache-Control, so the answer has none.
type misread struct{ error }

func (m misread) Unwrap() error { return m.error }

// queryError names an error of $filter or $select.
func queryError(err error) error {
	if errors.Is(err, odata.ErrNotImplemented) {
		return table.NotImplemented.With(err.Error())
	}
	return misread{table.InvalidInput.With(err.Error())}
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
	format := x.errorFormat
	contentType := format.ErrorContentType()
	if f := (fault{}); errors.As(err, &f) {
		err = f.err
		r.add("Server", "Microsoft-HTTPAPI/2.0")
		contentType = "application/json" // bare, as nothing was negotiated yet
		x.plain = f.xml || !x.asksForJSON()
	}
	e := asError(err)
	if m := (misread{}); errors.As(err, &m) {
		r.Header = slices.DeleteFunc(r.Header, func(f Field) bool { return f.Name == "Cache-Control" })
	} else if p := x.prefer.String(); p != "" && e.Status() != 412 {
		r.add("Preference-Applied", p)
	}
	r.Status, r.Code = e.Status(), string(e.Code)
	if r.Status >= 500 && !r.Cut {
		r.Err = e.Unwrap()
	}
	r.add("x-ms-error-code", r.Code)
	switch {
	case r.Status == 401:
		r.add("WWW-Authenticate", cmp.Or(x.Challenge, "SharedKey"))
	case e.Code == table.ServerBusy:
		r.add("Retry-After", strconv.Itoa(int(max(x.retryAfter+time.Second-1, time.Second)/time.Second)))
	}
	if x.plain {
		r.add("Content-Type", "application/xml")
		r.Body = payload.AppendXMLError(nil, e, r.RequestID, x.now)
	} else {
		r.add("Content-Type", contentType)
		r.Body = format.AppendError(nil, e, r.RequestID, x.now)
	}
}

// asksForJSON reports whether an error that came before there was a format is
// to be told in JSON. The service tells it in XML where nobody asked.
func (x *exchange) asksForJSON() bool {
	accept := x.req.Header.Get("Accept")
	if f := x.options.format; f != nil && *f != "" {
		accept = *f
	}
	return strings.Contains(strings.ToLower(accept), "json")
}

// failPart makes an error a part of a batch's response.
func (x *exchange) failPart(c *call, e *table.Error) multipart.Response {
	x.resp.Code = string(e.Code)
	if e.Status() >= 500 {
		x.resp.Err = e.Unwrap()
	}
	h := partHeader(c.contentID)
	switch {
	case e.Code == table.TableNotFound:
		h = h[:len(h)-1] // the service finds no table before it has these headers
	case e.Status() != 412:
		h = c.applied(h)
	}
	h = append(h,
		Field{Name: "DataServiceVersion", Value: c.dataServiceVersion()},
		Field{Name: "Content-Type", Value: c.errorFormat.ErrorContentType()})
	return multipart.Response{
		Status: e.Status(), Header: h,
		Body: c.errorFormat.AppendError(nil, e, x.resp.RequestID, x.now),
	}
}
