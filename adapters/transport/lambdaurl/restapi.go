package lambdaurl

import (
	"cmp"
	"net/url"
	"strings"

	"edgetable/core/protocol"
)

// restAPI converts a request through a REST API of API Gateway. The path that the client signed is in the request
// context, and begins with the stage. Query parameters arrive decoded and unordered, and are encoded again. No
// signature depends on their form.
func (e *event) restAPI() (protocol.Request, door, error) {
	d := door{name: "rest-api", limit: functionLimit, unmeasured: true}
	req := protocol.Request{
		Method: e.HTTPMethod,
		Target: cmp.Or(e.RequestContext.Path, e.Path),
		Source: address(e.RequestContext.Identity.SourceIP),
	}
	query, err := e.query(url.QueryEscape)
	if err != nil {
		return req, d, err
	}
	if query != "" {
		req.Target += "?" + strings.ReplaceAll(query, "+", "%20")
	}
	h := e.fields()
	for name, values := range h {
		// API Gateway renames some headers, such as Date.
		if original, ok := strings.CutPrefix(name, "X-Amzn-Remapped-"); ok && h[original] == nil {
			h[original] = values
		}
	}
	req.Header = h
	return req, d, nil
}
