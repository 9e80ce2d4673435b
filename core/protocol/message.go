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
	// Target is the unchanged request target of the request line, path and
	// query. It keeps its escapes, because clients sign them.
	Target string
	Host   string // the Host header
	Scheme string // "http" or "https" as the client sees it, for URLs in responses
	Header Fields
	// Source is the client's address, or the zero Addr if it is unknown.
	Source netip.Addr
	// Body may be nil. It is read only after the authentication, and at most up to the limit of 4 MiB. A
	// Body with the method Bytes() []byte is already in memory: its bytes are not copied, and must not
	// change until Release. If Read returns a *table.Error, this error is the answer: ServerBusy means
	// that there is no memory for the body. If Body has the method BelongsTo(account string), the handler
	// calls it with the account to which the memory of the body is charged.
	Body io.Reader
	// ContentLength is the length of Body, or -1 if it is unknown.
	ContentLength int64
	// Until is done when the transport stops. Requests that wait for changes then end too. If Until is
	// nil, requests do not wait for changes, and no Response has a Stream.
	Until context.Context
	// ServesAgain makes the transport call Await if a Response has a Wait, and then serve the request again with it as
	// Waited. Without ServesAgain, the handler does so.
	ServesAgain bool
	Waited      *changefeed.Wait
}

// Fields is the header of a request. Callers use names in canonical form, such
// as X-Ms-Date. The returned values must be valid until Serve returns.
type Fields interface {
	// Get returns the first value of a field, or "".
	Get(canonicalName string) string
	// Values returns all values of a field.
	Values(canonicalName string) []string
}

// Header implements Fields as a map with canonical names, like net/http.
type Header map[string][]string

// Values implements Fields.
func (h Header) Values(name string) []string { return h[name] }

// Get implements Fields.
func (h Header) Get(name string) string {
	if v := h[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// Field is one header line of a response. Names have the service's spelling,
// because some clients require it.
type Field = multipart.Field

// Response is the HTTP response that the transport sends.
type Response struct {
	Status int
	// Reason is the phrase of the status line, or "" for the standard phrase. Like the service, the
	// handler sends the text of an error there, without our hint. It sends the standard phrase if the
	// error is in a format of OData.
	Reason string
	Header multipart.Header // in the order in which they are sent
	// Body is valid until Release. The handler then reuses its memory.
	Body []byte
	// Stream, if it is not nil, replaces Body. The transport reads Stream to its end and sends all data
	// as soon as it has read them. Release closes Stream.
	Stream io.Reader
	// Wait is set if the request has to wait for changes. The rest of the Response then has no meaning.
	Wait *changefeed.Wait
	// Summary is for logs and metrics.
	Summary
	// Visit is for statistics of traffic; nil if no entity was addressed.
	Visit *Visit
	// Cut makes the transport close the connection and send nothing.
	Cut bool

	release func()
}

// Release returns the memory of the response to the handler. The transport
// calls it after it has sent the body, and does not use the Response
// afterwards.
func (r *Response) Release() {
	if r.release != nil {
		r.release()
	}
}

// OnRelease sets the function that Release calls, and replaces the previous one.
func (r *Response) OnRelease(f func()) { r.release = f }

func (r *Response) add(name, value string) {
	r.Header = append(r.Header, Field{Name: name, Value: value})
}
