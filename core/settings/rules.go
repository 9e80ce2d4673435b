package settings

import (
	"iter"
	"strconv"
	"strings"

	"edgetable/core/edm"
)

// The limits of the rules of an account, as the service documents them.
const (
	maxRules    = 5
	maxOrigins  = 64
	maxItem     = 256 // characters of an origin or a header name
	maxLiteral  = 64  // header names without an asterisk in a list
	maxPrefixed = 2   // header names that end in an asterisk in a list
	maxCORS     = 2 << 10
)

// CORS has the rules of an account, in the order of the document: the first
// rule that matches a request decides. Without rules, CORS is off.
type CORS []Rule

// Rule says what pages of some origins may do. Commas separate the items of the
// lists; blanks around items have no meaning. Methods and origins are kept as
// they were sent, header names in the order that the service uses.
type Rule struct {
	// AllowedMethods lists verbs in upper case, at least one.
	AllowedMethods string
	// AllowedOrigins lists origins such as https://www.contoso.com, at least
	// one. They match exactly; https://*.contoso.com matches every subdomain, *
	// matches all origins.
	AllowedOrigins string
	// AllowedHeaders lists names of headers that a request may have. The item
	// x-ms-meta* matches all names with this prefix, * all names.
	AllowedHeaders string
	// ExposedHeaders lists names of headers of a response that a page may read,
	// with asterisks as above.
	ExposedHeaders string
	// MaxAge says for how many seconds a browser may remember a preflight.
	MaxAge int32
}

// size returns the size that counts towards the limit of all rules together:
// the values without tags.
func (r *Rule) size() int {
	return len(r.AllowedMethods) + len(r.AllowedOrigins) + len(r.AllowedHeaders) + len(r.ExposedHeaders) +
		len(strconv.Itoa(int(r.MaxAge)))
}

// methodsProblem returns an error text if the list of methods is wrong.
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

// noLimit is for lists without a limit.
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

// headersProblem returns an error text if an item is not a valid header name.
// Exposed names are sent in a header, so no other text may get there.
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

// headersOrder returns a list of header names in the order that the service
// keeps: full names first, then those with an asterisk, without blanks.
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

// items returns the parts between the commas of a list, without the blanks
// around them: one more than the list has commas.
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

// trim removes the characters that are white space in XML.
func trim(s string) string { return strings.Trim(s, " \t\r\n") }

func blank(s string) bool { return trim(s) == "" }

// tooLong counts UTF-16 units, as the service does.
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
