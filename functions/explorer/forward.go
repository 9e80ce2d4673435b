package explorer

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// forwarded is the path prefix of requests to a service, before the name of the profile.
const forwarded = Prefix + "p/"

// forwardedHeaders are the headers forwarded in each direction. All other headers are dropped, such as cookies, session
// tokens and the headers of proxies.
var forwardedHeaders = struct{ request, answer map[string]bool }{
	request: set("Accept", "Accept-Charset", "Content-Type", "Dataserviceversion", "If-Match", "Maxdataserviceversion", "Prefer"),
	answer: set("Content-Length", "Content-Type", "Dataserviceversion", "Date", "Etag", "Location", "Preference-Applied", "Retry-After",
		"Server", "Server-Timing"),
}

// families are prefixes of headers that are forwarded in both directions.
var families = []string{"X-Ms-", "X-Edgetable-", "Edgetable-"}

func set(names ...string) map[string]bool {
	s := map[string]bool{}
	for _, name := range names {
		s[name] = true
	}
	return s
}

func copyHeaders(to, from http.Header, known map[string]bool) {
	for name, values := range from {
		ours := known[name] || slices.ContainsFunc(families, func(family string) bool { return strings.HasPrefix(name, family) })
		if ours && name != tokenHeader && name != "X-Ms-Date" {
			to[name] = values
		}
	}
}

// methods are the protocol's methods. The value is true if the method only reads.
var methods = map[string]bool{
	http.MethodGet: true, http.MethodHead: true,
	http.MethodPost: false, http.MethodPut: false, http.MethodPatch: false, http.MethodDelete: false, "MERGE": false,
}

// mostBody is the maximum size of a request body, twice the maximum that a service accepts.
const mostBody = 8 << 20

// forward signs a request and sends it to the service of a profile.
func (g *Gateway) forward(w http.ResponseWriter, r *http.Request) {
	escaped, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), forwarded), "/")
	name, err := url.PathUnescape(escaped)
	if err != nil {
		name = escaped
	}
	one, c := g.find(w, name)
	if one == nil {
		return
	}
	reads, known := methods[r.Method]
	switch {
	case !known:
		refuse(w, http.StatusMethodNotAllowed, "UnsupportedHttpVerb", "the protocol has no "+r.Method)
		return
	case one.ReadOnly && !reads: // a batch counts as a write, because its operations are not examined
		refuseReadOnly(w, one.Name)
		return
	case !isWithinAccount(rest):
		refuse(w, http.StatusBadRequest, "InvalidUri", "the path leads out of the account")
		return
	case signedQuery(r.URL.RawQuery):
		refuse(w, http.StatusBadRequest, "InvalidQueryParameterValue", "the explorer signs requests; the query must have no signature")
		return
	}
	// Read the whole body now, because the server closes the body when the response begins.
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		refuse(w, http.StatusRequestEntityTooLarge, "RequestBodyTooLarge", "the body of a request has at most 4 MiB")
		return
	}
	if err != nil { // the browser has disconnected
		return
	}
	header := http.Header{}
	copyHeaders(header, r.Header, forwardedHeaders.request)
	header.Set("User-Agent", "edgetable explorer")
	resp, err := c.Forward(r.Context(), r.Method, "/"+rest, r.URL.RawQuery, header, body)
	if err != nil {
		if r.Context().Err() == nil {
			w.Header().Set(tokenHeader, "unreachable")
			refuse(w, http.StatusBadGateway, "NoAnswer", g.explain(err))
		}
		return
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 && resp.StatusCode < 400 && resp.StatusCode != http.StatusNotModified {
		refuse(w, http.StatusBadGateway, "Redirect", "the service redirects to another URL; correct the profile's endpoint")
		return
	}
	copyHeaders(w.Header(), resp.Header, forwardedHeaders.answer)
	w.WriteHeader(resp.StatusCode)
	if _, err := io.Copy(flushing{w, http.NewResponseController(w)}, resp.Body); err != nil {
		panic(http.ErrAbortHandler) // abort the response, so that the browser notices the missing part
	}
}

// isWithinAccount reports whether an escaped path remains within the account. A path with a segment "." or ".." may
// not, because a server may resolve these segments.
func isWithinAccount(escaped string) bool {
	plain, err := url.PathUnescape(escaped)
	if err != nil {
		return false
	}
	for segment := range strings.SplitSeq(plain, "/") {
		if segment == "." || segment == ".." {
			return false
		}
	}
	return true
}

func signedQuery(raw string) bool {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return true
	}
	for name := range values {
		if strings.EqualFold(name, "sig") {
			return true
		}
	}
	return false
}

func (g *Gateway) explain(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return "the service cannot be reached: " + g.Plain(err)
	}
	return "the service did not answer: " + g.Plain(err)
}

// flushing is an http.ResponseWriter that flushes after each write.
type flushing struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (f flushing) Write(p []byte) (int, error) {
	n, err := f.ResponseWriter.Write(p)
	if err == nil {
		err = f.control.Flush()
	}
	return n, err
}
