package settings

import (
	"strconv"
	"strings"

	"edgetable/core/multipart"
)

// maxEcho bounds what of a request is compared and given back. Preflights come
// from anybody: without a bound, megabytes of header names would be compared to
// every name of a rule.
const maxEcho = 8 << 10

// Preflight answers an OPTIONS request, given its headers Origin,
// Access-Control-Request-Method and Access-Control-Request-Headers ("" if not
// sent): the headers of a reply 200, or false for 403 CorsPreflightFailure. A
// request without one of the first two is for the caller to refuse with 400
// InvalidHeaderValue, "A required CORS header is not present."; here it matches
// no rule.
//
// The first rule that has the origin and the method decides. If it does not have
// all of the headers, the answer is no, whatever later rules say.
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
		// The service answers with the origin of the request for a rule of *
		// too, without which no browser would take the credentials.
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

// varyOrigin has no room to append to.
var varyOrigin = []multipart.Field{{Name: "Vary", Value: "Origin"}}

// Actual returns the headers to add to the response to any other request, be it
// a success or an error, given the request's Origin ("" if not sent), the verb
// on its first line, and the headers the response has. The result may be shared:
// it is to be read only.
//
//	a rule of * matches          Access-Control-Allow-Origin: *, also without an Origin
//	a rule of the origin matches Access-Control-Allow-Origin: the origin, Allow-Credentials, Vary
//	none matches                 Vary
//	there are no rules           nothing
//
// Vary: Origin is for GET and HEAD alone, whose responses a cache may keep. With
// the first two goes Access-Control-Expose-Headers, if the rule exposes any.
func (c CORS) Actual(origin, method string, response []multipart.Field) []multipart.Field {
	if len(c) == 0 {
		return nil
	}
	cacheable := method == "GET" || method == "HEAD"
	for i := range c {
		r := &c[i]
		everybody, ok := r.admits(origin)
		if !ok || !r.allows(method) {
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

// admits reports whether the rule has the origin, and whether it is by an
// asterisk, which has no origin ("") too.
func (r *Rule) admits(origin string) (everybody, ok bool) {
	for item := range items(r.AllowedOrigins) {
		if item == "*" {
			return true, printable(origin)
		}
		ok = ok || item == origin || isSubdomain(origin, item)
	}
	return false, ok && printable(origin)
}

// isSubdomain reports whether origin is of a subdomain, of whatever depth, that
// an item such as https://*.contoso.com stands for. What the asterisk stands for
// has to be part of a host name, lest https://evil.com/.contoso.com pass.
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

// printable keeps out of a response what could not have come in a header.
func printable(origin string) bool {
	for i := 0; i < len(origin); i++ {
		if c := origin[i]; c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return len(origin) <= maxEcho
}

// allows compares to the letter: methods are case-sensitive.
func (r *Rule) allows(method string) bool {
	for item := range items(r.AllowedMethods) {
		if item == method {
			return true
		}
	}
	return false
}

// accepts reports whether the rule has all the names in a list that a browser
// sent. What is not a name is not accepted: the list is given back.
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

// lists reports whether a list of header names has the name, in any case, or a
// beginning of it with an asterisk.
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

// exposed is the list of what a page may read. Browsers know no prefixes here,
// and take an asterisk for a name if credentials are sent, so asterisks become
// the names of the response's own headers that they stand for. Names in full are
// listed whether or not the response has them.
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

// transportHeaders are those that the transport adds.
var transportHeaders = [...]string{"Content-Length", "Transfer-Encoding"}

func appendItem(list []byte, item string) []byte {
	if len(list) > 0 {
		list = append(list, ',')
	}
	return append(list, item...)
}
