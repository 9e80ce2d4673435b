package lambdaurl

import (
	"strings"

	"edgetable/core/protocol"
)

// functionURL converts a request through a Function URL. The event has rawPath and rawQueryString as the client sent
// them, and header names in lower case.
//
// Events of HTTP APIs have the same format, but rawPath is decoded. Only the domain shows the difference: a Function
// URL has a domain of the form ID.lambda-url.REGION.on.aws. CloudFront must therefore send this domain as Host.
func (e *event) functionURL() (protocol.Request, door) {
	d := door{name: "function-url", limit: functionLimit, binary: true}
	if !strings.Contains(e.RequestContext.DomainName, ".lambda-url.") {
		d.name, d.closed = "http-api", true
	}
	req := protocol.Request{
		Method: e.RequestContext.HTTP.Method,
		Target: e.RawPath,
		Source: address(e.RequestContext.HTTP.SourceIP),
	}
	if e.RawQueryString != "" {
		req.Target += "?" + e.RawQueryString
	}
	h := joinedHeaders(e.Headers)
	if len(e.Cookies) > 0 && h["Cookie"] == nil {
		h["Cookie"] = []string{strings.Join(e.Cookies, "; ")}
	}
	req.Header = h
	return req, d
}
