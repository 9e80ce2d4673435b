package protocol

import (
	"context"
	"io"
	"net/netip"

	"edgetable/core/changefeed"
	"edgetable/core/multipart"
)

// Request is one HTTP request.
type Request struct {
	Method string
	// Target is the request target (path and query) exactly as in the request line. Percent-escapes are unchanged,
	// because clients sign them.
	Target string
	Host   string
	Scheme string // scheme of the URLs in responses: "http" or "https", as the client sees it
	Header Fields
	// Source is the client's address, or the zero Addr if it is unknown.
	Source netip.Addr
	// Body may be nil. The handler reads it only after authentication, and at most 4 MiB of it. If Read returns a
	// *table.Error, such as ServerBusy for a lack of memory, the client receives this error.
	//
	// Body may have two optional methods:
	//
	//   - Bytes() []byte returns a body that is already in memory. The handler does not copy the bytes, so they must
	//     not change until Release.
	//   - BelongsTo(account string) is called with the account to which the memory of the body is charged.
	Body io.Reader
	// ContentLength is the length of Body, or -1 if it is unknown.
	ContentLength int64
	// Stopping is canceled when the transport stops; requests that wait for changes then return. If Stopping is nil, no
	// request waits for changes, and no Response has a Stream.
	Stopping context.Context
	// ServesAgain means that the transport handles Response.Wait: it calls the Wait's method Await, stores the Wait in
	// the field Waited, and calls Serve again. If ServesAgain is false, Serve itself does these three steps.
	ServesAgain bool
	Waited      *changefeed.Wait
}

// Fields is the header of a request. Names are in canonical form, such as X-Ms-Date. Returned values must be valid
// until Serve returns.
type Fields interface {
	// Get returns the first value of a field, or "" if the field is absent.
	Get(canonicalName string) string
	// Values returns all values of a field.
	Values(canonicalName string) []string
}

// Header implements Fields as a map with canonical names, like the Header of net/http.
type Header map[string][]string

// Values implements [Fields].
func (h Header) Values(name string) []string { return h[name] }

// Get implements [Fields].
func (h Header) Get(name string) string {
	if v := h[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// Field is one header line of a response. The name is spelled as in the service, which some clients require.
type Field = multipart.Field

// Response is the HTTP response that the transport sends.
type Response struct {
	Status int
	// Reason is the phrase of the status line; "" stands for the standard phrase. For an error that is not in an OData
	// format, Reason is the text of the error without this server's hint, as in the service.
	Reason string
	Header multipart.Header // header lines in the order in which the transport sends them
	// Body is valid until Release.
	Body []byte
	// Stream replaces Body if Stream is not nil. The transport sends the content of Stream until EOF, and flushes after
	// each read. Release closes the Stream.
	Stream io.Reader
	// Wait is set if the request must wait for changes. All other fields are then meaningless.
	Wait *changefeed.Wait
	// Summary describes the request for logs and metrics.
	Summary
	// Visit describes the accessed entities for traffic statistics. It is nil if the request did not address entities.
	Visit *Visit
	// Disconnect makes the transport close the connection without a response.
	Disconnect bool

	release func()
}

// Release returns the memory of the response to the handler. Call it after the body has been sent. The Response must
// not be used afterwards.
func (r *Response) Release() {
	if r.release != nil {
		r.release()
	}
}

// OnRelease sets the function that Release calls. It replaces any previous function.
func (r *Response) OnRelease(f func()) { r.release = f }

func (r *Response) add(name, value string) {
	r.Header = append(r.Header, Field{Name: name, Value: value})
}
