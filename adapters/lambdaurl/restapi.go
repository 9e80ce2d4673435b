package lambdaurl

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"edgetable/core/protocol"
)

// restAPI is a request through a REST API of API Gateway. What the client sent
// as path, and signed, is that of the request context, which begins with the
// stage. The query comes decoded and in no order, so that it is written anew:
// nobody signs its bytes.
func (e *event) restAPI() (protocol.Request, door, error) {
	d := door{name: "rest-api", limit: functionLimit, unmeasured: true}
	req := protocol.Request{
		Method: e.HTTPMethod,
		Target: e.RequestContext.Path,
		Source: address(e.RequestContext.Identity.SourceIP),
	}
	if req.Target == "" {
		req.Target = e.Path
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
		// Some fields are renamed on their way, Date among them.
		if original, ok := strings.CutPrefix(name, "X-Amzn-Remapped-"); ok && h[original] == nil {
			h[original] = values
		}
	}
	req.Header = h
	return req, d, nil
}

// fields are the headers, of which the lists are complete.
func (e *event) fields() protocol.Header {
	if len(e.MultiValueHeaders) > 0 {
		return listed(e.MultiValueHeaders)
	}
	return joined(e.Headers)
}

// query writes the parameters, of which the lists are complete, in the order of
// their names.
func (e *event) query(escape func(string) string) (string, error) {
	var lists map[string][]string
	if err := unmarshal(e.MultiValueQueryStringParameters, &lists); err != nil {
		return "", err
	}
	if len(lists) == 0 {
		var single map[string]string
		if err := unmarshal(e.QueryStringParameters, &single); err != nil {
			return "", err
		}
		lists = make(map[string][]string, len(single))
		for name, value := range single {
			lists[name] = []string{value}
		}
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		for _, value := range lists[name] {
			if b.Len() > 0 {
				b.WriteByte('&')
			}
			b.WriteString(escape(name))
			b.WriteByte('=')
			b.WriteString(escape(value))
		}
	}
	return b.String(), nil
}

// unmarshal reads a field that may be missing.
func unmarshal(raw json.RawMessage, to any) error {
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, to); err != nil {
		return fmt.Errorf("lambdaurl: the parameters of the query cannot be read: %w", err)
	}
	return nil
}
