package settings

import (
	"strconv"
	"strings"

	"edgetable/core/multipart"
)

// maxEcho is the maximum size in bytes of a request header that is compared with rules and repeated. Preflight requests
// need no credentials, so the work for them must be limited.
const maxEcho = 8 << 10

// Preflight answers an OPTIONS request. Its arguments are the values of the headers Origin,
// Access-Control-Request-Method and Access-Control-Request-Headers, or "". It returns the headers of a 200 response, or
// false for 403 CorsPreflightFailure. Without an origin or a method, the caller must respond with 400
// InvalidHeaderValue, "A required CORS header is not present."
func (c CORS) Preflight(origin, method, headers string) ([]multipart.Field, bool) {
	if origin == "" || method == "" || len(headers) > maxEcho {
		return nil, false
	}
	for i := range c {
		r := &c[i]
		if _, ok := r.allowsOrigin(origin); !ok || !r.allows(method) {
			continue
		}
		if !r.accepts(headers) {
			return nil, false // only the first rule counts, even if a later rule has all headers
		}
		// Like the service, repeat the request's origin even if the rule has *. Browsers reject an asterisk in the
		// response to a request with credentials.
		fields := make([]multipart.Field, 0, 5)
		fields = append(fields,
			multipart.Field{Name: "Access-Control-Allow-Origin", Value: origin},
			multipart.Field{Name: "Access-Control-Allow-Methods", Value: method})
		if headers != "" {
			fields = append(fields, multipart.Field{Name: "Access-Control-Allow-Headers", Value: headers})
		}
		return append(fields,
			multipart.Field{Name: "Access-Control-Max-Age", Value: strconv.Itoa(int(r.MaxAge))},
			multipart.Field{Name: "Access-Control-Allow-Credentials", Value: "true"}), true
	}
	return nil, false
}

// varyOrigin is shared by many responses. It has no spare capacity, so that appending to it makes a copy.
var varyOrigin = []multipart.Field{{Name: "Vary", Value: "Origin"}}

// Actual returns the CORS headers for the response to a request other than a preflight, whether the request succeeds or
// fails. origin is "" if the request has no Origin. response is the header of the response. The result may be shared
// and must not be modified.
//
// The first matching rule decides:
//
//   - A rule with * adds Access-Control-Allow-Origin: *. Without an Origin, it matches only GET and HEAD.
//   - A rule with the origin adds Access-Control-Allow-Origin with the origin, Access-Control-Allow-Credentials and
//     Vary.
//   - If no rule matches, only Vary is added. Without rules, nothing is added.
//
// Vary: Origin is added only for GET and HEAD, because caches store no other responses. A matching rule also adds
// Access-Control-Expose-Headers if it exposes any headers.
func (c CORS) Actual(origin, method string, response []multipart.Field) []multipart.Field {
	if len(c) == 0 {
		return nil
	}
	cacheable := method == "GET" || method == "HEAD"
	for i := range c {
		r := &c[i]
		everybody, ok := r.allowsOrigin(origin)
		if !ok || !r.allows(method) || origin == "" && !cacheable {
			continue
		}
		fields := make([]multipart.Field, 0, 4)
		if everybody {
			fields = append(fields, multipart.Field{Name: "Access-Control-Allow-Origin", Value: "*"})
		} else {
			fields = append(fields,
				multipart.Field{Name: "Access-Control-Allow-Origin", Value: origin},
				multipart.Field{Name: "Access-Control-Allow-Credentials", Value: "true"})
		}
		if names := r.exposedHeaders(response); names != "" {
			fields = append(fields, multipart.Field{Name: "Access-Control-Expose-Headers", Value: names})
		}
		if !everybody && cacheable {
			fields = append(fields, varyOrigin[0])
		}
		return fields
	}
	if cacheable {
		return varyOrigin
	}
	return nil
}

// allowsOrigin reports whether the rule allows every origin, and whether it allows this origin. An asterisk also allows
// a request without an origin ("").
func (r *Rule) allowsOrigin(origin string) (everybody, ok bool) {
	for item := range items(r.AllowedOrigins) {
		if item == "*" {
			return true, printable(origin)
		}
		ok = ok || item == origin || isSubdomain(origin, item)
	}
	return false, ok && printable(origin)
}

// isSubdomain reports whether origin is a subdomain of an item such as https://*.contoso.com. The asterisk matches only
// host names, so https://evil.com/.contoso.com does not match.
func isSubdomain(origin, item string) bool {
	scheme, domain, ok := strings.Cut(item, "://*.")
	if !ok || domain == "" {
		return false
	}
	host, ok := strings.CutPrefix(origin, scheme)
	if !ok {
		return false
	}
	host, ok = strings.CutPrefix(host, "://")
	if !ok {
		return false
	}
	sub, ok := strings.CutSuffix(host, domain)
	if !ok || sub == "" || sub[0] == '.' || sub[len(sub)-1] != '.' {
		return false
	}
	for i := 0; i < len(sub); i++ {
		c := sub[i]
		if letter := c | 0x20; ('a' > letter || letter > 'z') && (c < '0' || '9' < c) && c != '-' && c != '.' && c != '_' {
			return false
		}
	}
	return true
}

// printable reports whether an origin may be repeated in a response: it has at most maxEcho bytes and only characters
// that are valid in a header.
func printable(origin string) bool {
	for i := 0; i < len(origin); i++ {
		if c := origin[i]; c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return len(origin) <= maxEcho
}

// allows reports whether the rule lists the method. Methods are case-sensitive.
func (r *Rule) allows(method string) bool {
	for item := range items(r.AllowedMethods) {
		if item == method {
			return true
		}
	}
	return false
}

// accepts reports whether the rule lists all requested header names. It rejects an invalid name, because the response
// repeats the names.
func (r *Rule) accepts(headers string) bool {
	if headers == "" {
		return true
	}
	for name := range strings.SplitSeq(headers, ",") {
		if name = strings.Trim(name, " \t"); name == "" {
			continue // HTTP permits empty list items
		}
		if !token(name) || !listMatches(r.AllowedHeaders, name) {
			return false
		}
	}
	return true
}

// listMatches reports whether a list of header names contains the given name in any case, or an item such as x-ms-*
// that matches the name.
func listMatches(list, name string) bool {
	for item := range items(list) {
		if prefix, ok := strings.CutSuffix(item, "*"); ok {
			if len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix) {
				return true
			}
		} else if strings.EqualFold(item, name) {
			return true
		}
	}
	return false
}

// exposedHeaders returns the list of response headers that a web page may read. Items with an asterisk, which browsers
// do not support, become the matching headers of the response.
func (r *Rule) exposedHeaders(response []multipart.Field) string {
	list := r.ExposedHeaders
	if strings.IndexByte(list, '*') < 0 && !strings.ContainsAny(list, " \t\r\n") {
		return list
	}
	names := make([]byte, 0, 256)
	for _, f := range response {
		if listMatches(list, f.Name) && !listMatches(string(names), f.Name) {
			names = appendItem(names, f.Name)
		}
	}
	for _, name := range transportHeaders {
		if listMatches(list, name) {
			names = appendItem(names, name)
		}
	}
	for item := range items(list) {
		if item != "" && !strings.HasSuffix(item, "*") && !listMatches(string(names), item) {
			names = appendItem(names, item)
		}
	}
	return string(names)
}

// transportHeaders lists the headers that the transport adds to a response later.
var transportHeaders = [...]string{"Content-Length", "Transfer-Encoding"}

func appendItem(list []byte, item string) []byte {
	if len(list) > 0 {
		list = append(list, ',')
	}
	return append(list, item...)
}
