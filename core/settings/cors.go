package settings

import (
	"strconv"
	"strings"

	"edgetable/core/multipart"
)

// maxEcho bounds the parts of a request that are compared and repeated in the
// response. Anyone can send a preflight: without a bound, megabytes of header
// names would be compared with every name of a rule.
const maxEcho = 8 << 10

// Preflight answers an OPTIONS request. Its arguments are the headers Origin,
// Access-Control-Request-Method and Access-Control-Request-Headers ("" if not
// sent). It returns the headers of a reply 200, or false for 403
// CorsPreflightFailure. If one of the first two is missing, the caller must
// refuse the request with 400 InvalidHeaderValue, "A required CORS header is
// not present."; here such a request matches no rule.
//
// The first rule that has the origin and the method decides. If this rule does
// not have all of the headers, the answer is no, even if a later rule has them.
func (c CORS) Preflight(origin, method, headers string) ([]multipart.Field, bool) {
	if origin == "" || method == "" || len(headers) > maxEcho {
		return nil, false
	}
	for i := range c {
		r := &c[i]
		if _, ok := r.admits(origin); !ok || !r.allows(method) {
			continue
		}
		if !r.accepts(headers) {
			return nil, false
		}
		// The service answers with the origin of the request even for a rule
		// of *. With an asterisk, browsers would reject a response to a
		// request with credentials.
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

// varyOrigin has no spare capacity, so append copies it.
var varyOrigin = []multipart.Field{{Name: "Vary", Value: "Origin"}}

// Actual returns the headers to add to the response to any other request,
// whether it succeeds or fails. Its arguments are the request's Origin ("" if
// not sent), the verb on its first line, and the headers of the response.
// Callers must not change the result: it may be shared.
//
//	a rule of * matches          Access-Control-Allow-Origin: *; without an Origin only for GET and HEAD
//	a rule of the origin matches Access-Control-Allow-Origin: the origin, Allow-Credentials, Vary
//	none matches                 Vary
//	there are no rules           nothing
//
// Only GET and HEAD get Vary: Origin, because a cache may keep their responses.
// The first two cases also add Access-Control-Expose-Headers, if the rule
// exposes any headers.
func (c CORS) Actual(origin, method string, response []multipart.Field) []multipart.Field {
	if len(c) == 0 {
		return nil
	}
	cacheable := method == "GET" || method == "HEAD"
	for i := range c {
		r := &c[i]
		everybody, ok := r.admits(origin)
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
		if names := r.exposed(response); names != "" {
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

// admits reports whether the rule has the origin, and whether an asterisk
// matched it. An asterisk also matches a request without an origin ("").
func (r *Rule) admits(origin string) (everybody, ok bool) {
	for item := range items(r.AllowedOrigins) {
		if item == "*" {
			return true, printable(origin)
		}
		ok = ok || item == origin || isSubdomain(origin, item)
	}
	return false, ok && printable(origin)
}

// isSubdomain reports whether origin is a subdomain, at any depth, that an item
// such as https://*.contoso.com matches. The asterisk matches only part of a
// host name; otherwise https://evil.com/.contoso.com would pass.
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

// printable reports whether origin may be repeated in a response: it is short,
// and it has only characters that a header can have.
func printable(origin string) bool {
	for i := 0; i < len(origin); i++ {
		if c := origin[i]; c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return len(origin) <= maxEcho
}

// allows compares the exact text: methods are case-sensitive.
func (r *Rule) allows(method string) bool {
	for item := range items(r.AllowedMethods) {
		if item == method {
			return true
		}
	}
	return false
}

// accepts reports whether the rule has all the names in a list that a browser
// sent. It accepts only valid header names, because the response repeats the
// list.
func (r *Rule) accepts(headers string) bool {
	if headers == "" {
		return true
	}
	for name := range strings.SplitSeq(headers, ",") {
		if name = strings.Trim(name, " \t"); name == "" {
			continue // lists may have empty items
		}
		if !token(name) || !lists(r.AllowedHeaders, name) {
			return false
		}
	}
	return true
}

// lists reports whether a list of header names has the name, in any case, or
// has one of its prefixes, followed by an asterisk.
func lists(list, name string) bool {
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

// exposed returns the list of headers that a page may read. Browsers know no
// prefixes here, and take an asterisk for a name if credentials are sent. So
// each asterisk is replaced by the names of the response's headers that it
// matches. Full names are listed even if the response does not have them.
func (r *Rule) exposed(response []multipart.Field) string {
	list := r.ExposedHeaders
	if strings.IndexByte(list, '*') < 0 && !strings.ContainsAny(list, " \t\r\n") {
		return list
	}
	names := make([]byte, 0, 256)
	for _, f := range response {
		if lists(list, f.Name) && !lists(string(names), f.Name) {
			names = appendItem(names, f.Name)
		}
	}
	for _, name := range transportHeaders {
		if lists(list, name) {
			names = appendItem(names, name)
		}
	}
	for item := range items(list) {
		if item != "" && !strings.HasSuffix(item, "*") && !lists(string(names), item) {
			names = appendItem(names, item)
		}
	}
	return string(names)
}

// transportHeaders are the headers that the transport adds.
var transportHeaders = [...]string{"Content-Length", "Transfer-Encoding"}

func appendItem(list []byte, item string) []byte {
	if len(list) > 0 {
		list = append(list, ',')
	}
	return append(list, item...)
}
