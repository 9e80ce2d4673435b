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
	// Target is the request target (path and query), exactly as in the request line. Its percent-escapes are
	// unchanged, because clients sign them.
	Target string
	Host   string // the Host header
	Scheme string // "http" or "https" as the client sees it, for URLs in responses
	Header Fields
	// Source is the client's address, or the zero Addr if it is unknown.
	Source netip.Addr
	// Body may be nil. The handler reads it only after the authentication, and at most 4 MiB of it. A Body with the
	// method Bytes() []byte is already in memory: the handler does not copy its bytes, which must not change until
	// Release. If Read returns a *table.Error, the client gets this error: ServerBusy, for example, if there is no
	// memory for the body. If Body has the method BelongsTo(account string), the handler calls it with the account to
	// which the memory of the body is charged.
	Body io.Reader
	// ContentLength is the length of Body, or -1 if it is unknown.
	ContentLength int64
	// The context Until ends when the transport stops. Requests that wait for changes then end too. If Until is nil,
	// no request waits for changes, and no Response has a Stream.
	Until context.Context
	// ServesAgain is set if the transport itself waits when a Response has a Wait. The transport then calls Await, stores the Wait
	// in the field Waited, and calls Serve again. If ServesAgain is not set, Serve itself waits, and then serves the request again.
	ServesAgain bool
	Waited      *changefeed.Wait
}

// Fields is the header of a request. Names are in canonical form, such as X-Ms-Date. The returned values must be valid
// until Serve returns.
type Fields interface {
	// Get returns the first value of a field, or "".
	Get(canonicalName string) string
	// Values returns all values of a field.
	Values(canonicalName string) []string
}

// Header implements Fields. It is a map with canonical names, like the Header of net/http.
type Header map[string][]string

// Values returns all values of a header. It implements the interface Fields.
func (h Header) Values(name string) []string { return h[name] }

// Get returns the first value of a header, or "". It implements the interface Fields.
func (h Header) Get(name string) string {
	if v := h[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// Field is one header line of a response. Its name has the service's spelling, which some clients require.
type Field = multipart.Field

// Response is the HTTP response that the transport sends.
type Response struct {
	Status int
	// Reason is the phrase of the status line, or "" for the standard phrase. Like the service, the handler sends the
	// text of an error there, but without the hint that this server adds to the text. It sends the standard phrase if
	// the error is in a format of OData.
	Reason string
	Header multipart.Header // header lines in the order in which the transport sends them
	// Body is valid until Release. The handler then reuses its memory.
	Body []byte
	// Stream replaces Body if it is not nil. The transport reads Stream to its end, and sends each piece of data
	// without delay. Release closes Stream.
	Stream io.Reader
	// Wait is set if the request must wait for changes. The other fields of the Response then have no meaning.
	Wait *changefeed.Wait
	// Summary describes the request for logs and metrics.
	Summary
	// Visit describes the accessed entities for traffic statistics. It is nil if the request addressed no entity.
	Visit *Visit
	// Cut makes the transport close the connection and send nothing.
	Cut bool

	release func()
}

// Release gives the memory of the response back to the handler. The transport calls Release after it has sent the
// body, and does not use the Response afterwards.
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
