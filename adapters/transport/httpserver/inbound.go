package httpserver

import (
	"bytes"
	"sync"
	"unsafe"

	"github.com/valyala/fasthttp"

	"edgetable/core/protocol"
)

// inbound is a request in the form that the protocol needs. It is reused after the request.
type inbound struct {
	req    protocol.Request
	fields fields
	body   incoming
}

var inbounds = sync.Pool{New: func() any { return new(inbound) }}

// receive returns an inbound with a list of the request's headers. The protocol looks up about twenty headers, and
// fasthttp's lookup would normalize the name each time.
func receive(head *fasthttp.RequestHeader) *inbound {
	in := inbounds.Get().(*inbound)
	f := &in.fields
	f.RequestHeader = head
	for name, value := range head.All() {
		f.list = append(f.list, protocol.Field{Name: view(name), Value: view(value)})
	}
	in.req.Header = f
	return in
}

func (in *inbound) release() {
	list := in.fields.list
	clear(list)
	*in = inbound{fields: fields{list: list[:0]}}
	inbounds.Put(in)
}

// fields contains the headers of a request in fasthttp's memory. They are valid until the end of the request, which is
// sufficient for the protocol.
type fields struct {
	*fasthttp.RequestHeader
	list []protocol.Field
}

func (f *fields) Get(name string) string {
	for i := range f.list {
		if f.list[i].Name != name {
			continue
		}
		if name == "Content-Length" && f.list[i].Value == "0" && !containsLine(f.RawHeaders(), "\ncontent-length:") {
			return "" // fasthttp adds this header to a request without a body
		}
		return f.list[i].Value
	}
	return ""
}

// containsLine reports whether the raw headers contain a text, such as a line break and a name. It ignores case. The
// text must be in lower case.
func containsLine(raw []byte, line string) bool {
	return bytes.Contains(bytes.ToLower(append([]byte("\n"), raw...)), []byte(line))
}

func (f *fields) Values(name string) (values []string) {
	for i := range f.list {
		if f.list[i].Name == name {
			values = append(values, f.list[i].Value)
		}
	}
	return values
}

func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
