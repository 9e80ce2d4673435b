package main

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"edgetable/core/protocol"
	"edgetable/core/wiretest"
)

// encode returns a request in the form in which the JavaScript shell passes it: header names are in lower case and
// occur once. A body that is too long is omitted.
func encode(r *wiretest.Request) []byte {
	length, body := len(r.Body), r.Body
	switch {
	case length > protocol.MaxBody:
		body = nil
	case r.Chunked:
		length = -1
	}
	url := r.Target
	if !strings.Contains(url, "://") {
		url = "http://" + r.Host + url
	}
	head := fmt.Sprintf("%s\n%s\n127.0.0.1\n\n%d", r.Method, url, length)
	fields := append([]wiretest.Field{{Name: "Host", Value: r.Host}}, r.Header...)
	for i, f := range fields {
		name := strings.ToLower(f.Name)
		if has(fields[:i], name) {
			continue
		}
		value := f.Value
		for _, g := range fields[i+1:] {
			if strings.EqualFold(g.Name, name) {
				value += ", " + g.Value
			}
		}
		head += "\n" + name + ":" + value
	}
	return append(frames(nil).addText(head), body...)
}

func has(fields []wiretest.Field, name string) bool {
	for _, f := range fields {
		if strings.EqualFold(f.Name, name) {
			return true
		}
	}
	return false
}

// parseResponse parses a response in the form that the JavaScript shell receives.
func parseResponse(b []byte, method string) (*wiretest.Response, error) {
	head, body, ok := frames(b).next()
	if !ok {
		return nil, fmt.Errorf("no response: %.200q", b)
	}
	lines := strings.Split(string(head), "\n")
	code, reason, _ := strings.Cut(lines[0], " ")
	status, err := strconv.Atoi(code)
	if err != nil {
		return nil, err
	}
	r := &wiretest.Response{Status: status, Reason: cmp.Or(reason, http.StatusText(status)), Body: body}
	if method == "HEAD" {
		r.Body = nil // the platform omits the body
	}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ":")
		r.Header = append(r.Header, wiretest.Field{Name: name, Value: value})
	}
	return r, nil
}
