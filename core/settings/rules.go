package settings

import (
	"iter"
	"strconv"
	"strings"

	"edgetable/core/edm"
)

// The service's documented limits on the rules of an account.
const (
	maxRules    = 5
	maxOrigins  = 64
	maxItem     = 256 // maximum length of an origin or header name in UTF-16 code units
	maxLiteral  = 64  // maximum number of header names without an asterisk in a list
	maxPrefixed = 2   // maximum number of header names with a trailing asterisk in a list
	maxCORS     = 2 << 10
)

// CORS holds the CORS rules of an account in the order of the document. Only the first rule that matches a request
// applies to it. Without rules, CORS is disabled.
type CORS []Rule

// Rule says what web pages of some origins may do. Lists are separated by commas, with optional blanks. Header names
// with an asterisk come last, as in the service.
type Rule struct {
	// AllowedMethods lists at least one method, in upper case.
	AllowedMethods string
	// AllowedOrigins lists at least one origin. https://www.contoso.com must match exactly, https://*.contoso.com
	// matches every subdomain, and * all origins.
	AllowedOrigins string
	// AllowedHeaders lists the headers that a request may have. An item such as x-ms-meta* matches all names with this
	// prefix, and * matches all names.
	AllowedHeaders string
	// ExposedHeaders lists the response headers that a page may read. Asterisks have the same meaning as in
	// AllowedHeaders.
	ExposedHeaders string
	// MaxAge is how long a browser may cache the response to a preflight, in seconds.
	MaxAge int32
}

// size returns the size of the rule's values in bytes. The total size of all rules is limited to maxCORS.
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
			return "a method must be one of DELETE, GET, HEAD, MERGE, POST, OPTIONS, PUT, PATCH, TRACE and CONNECT"
		}
	}
	return ""
}

// noLimit is for lists without a limit on the number of items.
func noLimit(string) string { return "" }

// tooManyOrigins returns an error text if a list has too many origins, or "".
func tooManyOrigins(list string) string {
	if strings.Count(list, ",") >= maxOrigins {
		return "at most 64 origins"
	}
	return ""
}

// tooManyHeaders returns an error text if a list has too many header names, or "".
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
		return "at most 64 header names without an asterisk are allowed"
	case prefixed > maxPrefixed:
		return "at most 2 header names with an asterisk are allowed"
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
			return "an origin in the list is empty"
		case tooLong(item, maxItem):
			return "an origin has at most 256 characters"
		}
	}
	return ""
}

// headersProblem returns what is wrong with a list of header names, or "". The check is strict, because exposed names
// are sent to clients in a header.
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

// headersOrder removes blanks from a list of header names and moves the names with an asterisk to its end, like the
// service.
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

// items iterates over the comma-separated items of a list, without surrounding blanks. An empty list has one empty
// item.
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

func trim(s string) string { return strings.Trim(s, " \t\r\n") }

func blank(s string) bool { return trim(s) == "" }

// tooLong reports whether s has more than the given number of UTF-16 code units, in which the service counts.
func tooLong(s string, units int) bool { return len(s) > units && edm.UTF16Len(s) > units }

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
