package protocol

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"edgetable/core/multipart"
	"edgetable/core/payload"
	"edgetable/core/table"
)

func (c *call) fail(err error) {
	r := &c.resp
	format := c.ErrorFormat
	contentType := format.ErrorContentType()
	f := fault{}
	isFault := errors.As(err, &f)
	if isFault {
		err = f.err
	}
	e := asError(err)
	found := c.phaseOf(e)
	if isFault && found != challenging {
		found = atFront
	}
	if found == atFront || found == challenging {
		contentType = "application/json" // no format has been negotiated yet, so the media type has no OData parameters
		c.plain = c.plain || f.xml || !c.asksForJSON()
	}
	c.head(found)
	r.Header = c.withPreference(found, e.Status(), r.Header)
	r.Status = e.Status()
	if r.recordError(e); r.Disconnect {
		r.Err = nil // the Gate closed the connection on purpose, so there is no cause to log
	}
	r.add("x-ms-error-code", r.Code)
	if c.plain || found == atFront || found == challenging || found == readingOptions {
		r.Reason = reason(e)
	}
	switch {
	case r.Status == 401:
		r.add("WWW-Authenticate", c.challenge())
	case e.Code == table.ServerBusy:
		r.add("Retry-After", strconv.Itoa(int(max(c.retryAfter+time.Second-1, time.Second)/time.Second)))
	}
	if c.plain {
		r.add("Content-Type", "application/xml")
		r.Body = payload.AppendXMLError(nil, e, r.RequestID, c.now)
	} else {
		r.add("Content-Type", contentType)
		r.Body = format.AppendError(nil, e, r.RequestID, c.now)
	}
}

// reason returns the service's text of an error as one line, without the hint that this server appends to it.
func reason(e *table.Error) string {
	for _, code := range [...]table.Code{e.Code, table.NoAuthenticationInformation} {
		if text := code.Err().Message; strings.HasPrefix(e.Message, text) {
			return text
		}
	}
	text, _, more := strings.Cut(e.Message, ". ")
	if more {
		text += "."
	}
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return e.Code.Err().Message
		}
	}
	return text
}

// asksForJSON reports whether the client requests JSON. This selects the format of errors before the format of the
// answer is known. The other format is XML, as in the service.
func (c *call) asksForJSON() bool {
	accept := c.req.Header.Get("Accept")
	if f := c.options.Format; f != nil && *f != "" {
		accept = *f
	}
	return strings.Contains(strings.ToLower(accept), "json")
}

// failPart returns the response part of a batch that reports an error.
func (c *call) failPart(e *table.Error, found phase) multipart.Response {
	c.resp.recordError(e)
	h := append(c.withPreference(found, e.Status(), c.partHeader(found)),
		Field{Name: "DataServiceVersion", Value: c.dataServiceVersion()},
		Field{Name: "Content-Type", Value: c.ErrorFormat.ErrorContentType()})
	return multipart.Response{
		Status: e.Status(), Header: h,
		Body: c.ErrorFormat.AppendError(nil, e, c.resp.RequestID, c.now),
	}
}
