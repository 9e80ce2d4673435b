package protocol

import (
	"io"
	"net/netip"

	"edgetable/core/multipart"
)

// Request is one HTTP request as it came in.
type Request struct {
	Method string
	// Target is the request target of the request line, path and query, exactly
	// as it was sent: its escapes are part of what a client signs.
	Target string
	Host   string // the Host header
	Scheme string // "http" or "https" as the client sees it, for URLs in responses
	Header Fields
	// Source is the client's address; the zero Addr if it is not known.
	Source netip.Addr
	// Body is read only after the request was authenticated, and never beyond
	// the limit of 4 MiB. It may be nil. One that is in memory, as its method
	// Bytes() []byte says, is not copied: it stays as it is until Release.
	Body io.Reader
	// ContentLength is the length of Body, or -1 if it is not known.
	ContentLength int64
}

// Fields is the header of a request. Names are asked for in canonical form,
// X-Ms-Date. What it returns need not live longer than the call of Serve.
type Fields interface {
	// Get returns the first value of a field, or "".
	Get(canonicalName string) string
	// Values returns all of them.
	Values(canonicalName string) []string
}

// Header is Fields in a map with canonical names, the form of net/http.
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
// which some clients insist on.
type Field = multipart.Field

// Response is what the transport sends.
type Response struct {
	Status int
	Header multipart.Header // in the order of the wire
	// Body may be reused by the handler after Release was called.
	Body []byte

	// Operation names what was asked for, such as "InsertEntity": for logs and
	// metrics, "" if the request never got so far.
	Operation string
	// Account and Table are those of the request, if they were found.
	Account, Table string
	// Code is the error code of a failure, also of a failed part of a batch.
	Code string
	// Err is the cause of an error 5xx, nil if none is known. It is for the log alone.
	Err error
	// RequestID is the x-ms-request-id.
	RequestID string
	// Cut: the transport hangs up and sends nothing of this.
	Cut bool

	release func()
}

// Release gives the response's memory back. The transport calls it when it has
// sent the body, and uses the Response no more.
func (r *Response) Release() {
	if r.release != nil {
		r.release()
	}
}

func (r *Response) add(name, value string) {
	r.Header = append(r.Header, Field{Name: name, Value: value})
}
