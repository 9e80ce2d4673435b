package lambdaurl

import (
	"strings"

	"edgetable/core/protocol"
)

// functionURL is a request through a Function URL: the payload format 2.0, in
// which rawPath and rawQueryString are what the client sent, and names of
// headers are in lower case. HTTP APIs have the same format, but decode rawPath;
// the name of the domain tells them apart, ID.lambda-url.REGION.on.aws, also
// behind CloudFront, which must send that as Host.
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
	h := joined(e.Headers)
	if len(e.Cookies) > 0 && h["Cookie"] == nil {
		h["Cookie"] = []string{strings.Join(e.Cookies, "; ")}
	}
	req.Header = h
	return req, d
}
