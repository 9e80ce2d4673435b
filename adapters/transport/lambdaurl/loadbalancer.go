package lambdaurl

import (
	"strings"

	"edgetable/core/protocol"
)

// loadBalancer converts a request through an Application Load Balancer. It takes the client's address from the last
// entry of X-Forwarded-For, which the balancer adds. A setting of the target group determines whether header values are
// lists.
func (e *event) loadBalancer() (protocol.Request, door, error) {
	d := door{name: "load-balancer", limit: balancerLimit, binary: true, multi: e.MultiValueHeaders != nil, narrow: true}
	h := e.fields()
	req := protocol.Request{Method: e.HTTPMethod, Target: e.Path, Header: h}
	if list := h["X-Forwarded-For"]; len(list) > 0 {
		last := list[len(list)-1]
		req.Source = address(last[strings.LastIndexByte(last, ',')+1:])
	}
	query, err := e.query(func(s string) string { return s })
	if query != "" {
		req.Target += "?" + query
	}
	return req, d, err
}
