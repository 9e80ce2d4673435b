package settings

import (
	"iter"
	"strconv"
	"strings"

	"edgetable/core/edm"
)

// Limits of an account's rules, as the service documents them.
const (
	maxRules    = 5
	maxOrigins  = 64
	maxItem     = 256 // characters in an origin or header name
	maxLiteral  = 64  // header names without asterisk in a list
	maxPrefixed = 2   // header names with a trailing asterisk in a list
	maxCORS     = 2 << 10
)

// CORS holds the rules of an account in the order of the document. The first rule that matches a request decides.
// Without rules CORS is off.
type CORS []Rule

// Rule says what pages from some origins may do. Commas separate the items of its lists, and blanks around items are
// ignored. Methods and origins are kept as sent, and header names in the service's order.
type Rule struct {
	// AllowedMethods lists at least one method, in upper case.
	AllowedMethods string
	// AllowedOrigins lists at least one origin, such as https://www.contoso.com, which must match exactly.
	// https://*.contoso.com matches every subdomain, and * all origins.
	AllowedOrigins string
	// AllowedHeaders lists the names of headers that a request may have. x-ms-meta* matches all names with this
	// prefix, and * all names.
	AllowedHeaders string
	// ExposedHeaders lists the names of response headers that a page may read, with asterisks as above.
	ExposedHeaders string
	// MaxAge is how many seconds a browser may cache a preflight.
	MaxAge int32
}

// size returns how many bytes the rule adds to the limit that all rules share: its values, without tags.
func (r *Rule) size() int {
	return len(r.AllowedMethods) + len(r.AllowedOrigins) + len(r.AllowedHeaders) + len(r.ExposedHeaders) +
		len(strconv.Itoa(int(r.MaxAge)))
}

// methodsProblem returns what is wrong with a list of methods, or "".
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

// noLimit accepts lists of any length.
func noLimit(string) string { return "" }

// tooManyOrigins returns what is wrong if there are too many origins, or "".
func tooManyOrigins(list string) string {
	if strings.Count(list, ",") >= maxOrigins {
		return "at most 64 origins"
	}
	return ""
}

// tooManyHeaders returns what is wrong if there are too many header names, or "".
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

// originsProblem returns what is wrong with a list of origins, or "".
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

// headersProblem returns what is wrong if an item is not a valid header name, or "". Exposed names are sent as part
// of a header, so nothing else may pass.
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

// headersOrder returns a list of header names in the service's order, without blanks: full names first, then those
// with an asterisk.
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

// items returns the parts of a list between its commas, without surrounding blanks: one more than there are commas.
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

// trim removes surrounding XML white space.
func trim(s string) string { return strings.Trim(s, " \t\r\n") }

func blank(s string) bool { return trim(s) == "" }

// tooLong reports whether s has more than units UTF-16 code units, which is how the service counts.
func tooLong(s string, units int) bool { return len(s) > units && edm.UTF16Len(s) > units }

// token reports whether s is a legal header name.
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
