package lambdaurl

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"edgetable/core/protocol"
)

// event contains the fields of the events of all front doors. Each front door uses some of the fields.
type event struct {
	Version        string   `json:"version"` // "2.0" for Function URLs and HTTP APIs
	RawPath        string   `json:"rawPath"`
	RawQueryString string   `json:"rawQueryString"`
	Cookies        []string `json:"cookies"`

	HTTPMethod                      string              `json:"httpMethod"` // only in events of REST APIs and load balancers
	Path                            string              `json:"path"`
	MultiValueHeaders               map[string][]string `json:"multiValueHeaders"`
	QueryStringParameters           json.RawMessage     `json:"queryStringParameters"`
	MultiValueQueryStringParameters json.RawMessage     `json:"multiValueQueryStringParameters"`

	Headers         map[string]string `json:"headers"`
	Body            string            `json:"body"` // empty if cutBody has removed the body
	IsBase64Encoded bool              `json:"isBase64Encoded"`

	RequestContext struct {
		DomainName string `json:"domainName"`
		Path       string `json:"path"` // path of a REST API, including the stage
		HTTP       *struct {
			Method   string `json:"method"`
			SourceIP string `json:"sourceIp"`
		} `json:"http"`
		Identity struct {
			SourceIP string `json:"sourceIp"`
		} `json:"identity"`
		ELB *struct{} `json:"elb"`
	} `json:"requestContext"`
}

var errNoHTTP = errors.New("lambdaurl: the event is not an HTTP request through a Function URL, a REST API or a load balancer")

// door describes a front door through which requests reach the function, such as a Function URL.
type door struct {
	name   string
	limit  int  // maximum size of a response in bytes
	binary bool // the front door decodes base64 for every content type
	multi  bool // header values are lists
	narrow bool // queries use the shortest pages from the start
	closed bool // the function refuses requests through this front door

	unmeasured bool // events lack Content-Length
}

const (
	functionLimit = 6 << 20
	balancerLimit = 1 << 20
)

func decode(b []byte) (protocol.Request, door, error) {
	var e event
	b, body := cutBody(b)
	if err := json.Unmarshal(b, &e); err != nil {
		return protocol.Request{}, door{}, fmt.Errorf("lambdaurl: the event cannot be read: %w", err)
	}
	var req protocol.Request
	var d door
	var err error
	switch {
	case e.Version == "2.0" && e.RequestContext.HTTP != nil:
		req, d = e.functionURL()
	case e.HTTPMethod != "" && e.RequestContext.ELB != nil:
		req, d, err = e.loadBalancer()
	case e.HTTPMethod != "":
		req, d, err = e.restAPI()
	default:
		err = errNoHTTP
	}
	if err != nil {
		return protocol.Request{}, door{}, err
	}
	if req.Target == "" || req.Target[0] == '?' {
		req.Target = "/" + req.Target
	}
	req.Scheme = "https"
	if req.Header.Get("X-Forwarded-Proto") == "http" {
		req.Scheme = "http"
	}
	req.Host = req.Header.Get("Host")
	if req.Body, req.ContentLength, err = e.open(body); err != nil {
		return protocol.Request{}, door{}, fmt.Errorf("lambdaurl: the body cannot be read: %w", err)
	}
	if h := req.Header.(protocol.Header); d.unmeasured && h["Content-Length"] == nil {
		h["Content-Length"] = []string{strconv.FormatInt(req.ContentLength, 10)}
	}
	return req, d, nil
}

// joinedHeaders converts headers whose values are joined with commas. It splits only X-HTTP-Method, because the
// protocol counts its values.
func joinedHeaders(fields map[string]string) protocol.Header {
	h := make(protocol.Header, len(fields))
	for name, value := range fields {
		name = textproto.CanonicalMIMEHeaderKey(name)
		if name == "X-Http-Method" {
			h[name] = strings.Split(value, ",")
			continue
		}
		h[name] = []string{value}
	}
	return h
}

// listedHeaders converts headers with lists of values. It merges names that differ only in case, in sorted order,
// because the order of a map is random.
func listedHeaders(fields map[string][]string) protocol.Header {
	h := make(protocol.Header, len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		h[canonical] = append(h[canonical], fields[name]...)
	}
	return h
}

func (e *event) fields() protocol.Header {
	if len(e.MultiValueHeaders) > 0 {
		return listedHeaders(e.MultiValueHeaders)
	}
	return joinedHeaders(e.Headers)
}

// query returns the query with its parameters sorted by name. A parameter may have several values.
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

// unmarshal decodes a field that may be missing.
func unmarshal(raw json.RawMessage, to any) error {
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, to); err != nil {
		return fmt.Errorf("lambdaurl: the parameters of the query cannot be read: %w", err)
	}
	return nil
}
