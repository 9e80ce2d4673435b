package settings

import (
	"iter"
	"strconv"
	"strings"

	"edgetable/core/edm"
)

// Limits of the rules of an account, as the service documents them.
const (
	maxRules    = 5
	maxOrigins  = 64
	maxItem     = 256 // characters of an origin or a header name
	maxLiteral  = 64  // full names in a list of headers
	maxPrefixed = 2   // names ending in an asterisk in a list of headers
	maxCORS     = 2 << 10
)

// CORS is the rules of an account, in the order of the document: the first that
// matches a request decides. No rules, no CORS.
type CORS []Rule

// Rule says what pages of some origins may do. Items of the lists are separated by
// commas, blanks around them have no meaning. Methods and origins are kept as they
// were sent, names of headers in the order of the service.
type Rule struct {
	// AllowedMethods are verbs in upper case. At least one.
	AllowedMethods string
	// AllowedOrigins are origins such as https://www.contoso.com, compared to
	// the letter; https://*.contoso.com is every subdomain, * is everybody. At
	// least one.
	AllowedOrigins string
	// AllowedHeaders are names of headers that a request may have, x-ms-meta*
	// for all that begin so, * for all.
	AllowedHeaders string
	// ExposedHeaders are names of headers of a response that a page may read,
	// with asterisks as above.
	ExposedHeaders string
	// MaxAge is for how many seconds a browser may remember a preflight.
	MaxAge int32
}

// size counts towards the limit of all rules together: the values without tags.
func (r *Rule) size() int {
	return len(r.AllowedMethods) + len(r.AllowedOrigins) + len(r.AllowedHeaders) + len(r.ExposedHeaders) +
		len(strconv.Itoa(int(r.MaxAge)))
}

// methodsProblem says what is wrong with a list of methods, or nothing.
func methodsProblem(list string) string {
	if blank(list) {
		return "name at least one method"
	}
	for item := range items(list) {
		switch item {
		case "DELETE", "GET", "HEAD", "MERGE", "POST", "OPTIONS", "PUT", "PATCH", "TRACE", "CONNECT":
		default:
			return "a method is one of DELETE, GET, HEAD, MERGE, POST, OPTIONS, PUT, PATCH, TRACE and CONNECT"
		}
	}
	return ""
}

// noLimit is for lists that can hold as many as there are.
func noLimit(string) string { return "" }

// tooManyOrigins returns an error text if there are too many origins.
func tooManyOrigins(list string) string {
	if strings.Count(list, ",") >= maxOrigins {
		return "at most 64 origins"
	}
	return ""
}

// tooManyHeaders returns an error text if there are too many header names.
func tooManyHeaders(list string) string {
	literal, prefixed := 0, 0
	for item := range items(list) {
		if strings.HasSuffix(item, "*") {
			prefixed++
		} else {
			literal++
		}
	}
	switch {
	case literal > maxLiteral:
		return "at most 64 header names without an asterisk"
	case prefixed > maxPrefixed:
		return "at most 2 header names with an asterisk"
	}
	return ""
}

// originsProblem returns an error text if the list of origins is wrong.
func originsProblem(list string) string {
	if blank(list) {
		return "name at least one origin, or * for all"
	}
	for item := range items(list) {
		switch {
		case item == "":
			return "no empty origin between commas"
		case tooLong(item, maxItem):
			return "an origin has at most 256 characters"
		}
	}
	return ""
}

// headersProblem demands tokens, because exposed names are sent in a header:
// nothing else may get there.
func headersProblem(list string) string {
	if blank(list) {
		return ""
	}
	for item := range items(list) {
		switch {
		case tooLong(item, maxItem):
			return "a header name has at most 256 characters"
		case !token(item):
			return "a list of header names, such as x-ms-date,x-ms-meta*"
		}
	}
	return ""
}

// headersOrder is a list of header names as the service keeps it: full names
// first, then those with an asterisk, without blanks.
func headersOrder(list string) string {
	if blank(list) {
		return ""
	}
	ordered := make([]byte, 0, len(list))
	for _, prefixed := range [...]bool{false, true} {
		for item := range items(list) {
			if strings.HasSuffix(item, "*") == prefixed {
				ordered = appendItem(ordered, item)
			}
		}
	}
	return string(ordered)
}

// items are the parts between the commas of a list, without the blanks around
// them: one more than there are commas.
func items(list string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for more := true; more; {
			var item string
			item, list, more = strings.Cut(list, ",")
			if !yield(trim(item)) {
				return
			}
		}
	}
}

// trim removes what XML calls white space.
func trim(s string) string { return strings.Trim(s, " \t\r\n") }

func blank(s string) bool { return trim(s) == "" }

// tooLong counts as the service does, in units of UTF-16.
func tooLong(s string, units int) bool { return len(s) > units && edm.UTF16Len(s) > units }

// token reports whether s can be the name of a header.
func token(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if letter := c | 0x20; 'a' <= letter && letter <= 'z' || '0' <= c && c <= '9' {
			continue
		}
		if strings.IndexByte("-!#$%&'*+.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}
