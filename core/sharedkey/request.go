package sharedkey

import (
	"strings"

	"edgetable/core/percent"
)

// Request holds the parts of a request that a signature may cover, exactly as sent. A part that was not sent is
// empty.
type Request struct {
	Method      string // the verb in the request line; if the header x-http-method names another verb, this is POST
	Path        string // path of the request target, still escaped, without query and without scheme and host
	RawQuery    string // text after the question mark; only the value of comp is signed
	ContentMD5  string
	ContentType string
	Date        string // the Date header
	XMSDate     string // the x-ms-date header; it takes precedence over Date
}

// date returns the date that the client must have signed. As in the service, x-ms-date takes precedence over Date.
// Clients send x-ms-date because an intermediary may rewrite Date. If a request has x-ms-date, a signature over Date
// is not accepted.
func (r *Request) date() string {
	if r.XMSDate != "" {
		return r.XMSDate
	}
	return r.Date
}

// StringToSign returns the text to sign. account is the name of the account, without the suffix "-secondary" of the
// secondary endpoint.
func StringToSign(scheme Scheme, account string, req Request) string {
	return string(appendStringToSign(nil, scheme, account, req.Path, &req))
}

// appendStringToSign appends the StringToSign. The path is a separate parameter, because verification tries several
// spellings of it.
func appendStringToSign(dst []byte, scheme Scheme, account, path string, req *Request) []byte {
	if scheme == SharedKey {
		dst = append(dst, req.Method...)
		dst = append(dst, '\n')
		dst = append(dst, req.ContentMD5...)
		dst = append(dst, '\n')
		dst = append(dst, req.ContentType...)
		dst = append(dst, '\n')
	}
	dst = append(dst, req.date()...)
	dst = append(dst, '\n')
	return appendResource(dst, account, path, req.RawQuery)
}

// appendResource appends the CanonicalizedResource. If the path begins with the account, the account appears twice.
func appendResource(dst []byte, account, path, rawQuery string) []byte {
	dst = append(dst, '/')
	dst = append(dst, account...)
	if path == "" {
		path = "/"
	}
	dst = append(dst, path...)
	if value, ok := comp(rawQuery); ok {
		dst = append(dst, "?comp="...)
		dst = appendUnescaped(dst, value)
	}
	return dst
}

// comp returns the value of the first comp parameter. Its name may be percent-encoded and in any case. The signature
// must cover every parameter that a server treats as comp.
func comp(rawQuery string) (value string, ok bool) {
	for rawQuery != "" {
		var pair string
		pair, rawQuery, _ = strings.Cut(rawQuery, "&")
		name, value, _ := strings.Cut(pair, "=")
		if plain, ok := percent.Decode(name, true); ok && strings.EqualFold(plain, "comp") {
			return value, true
		}
	}
	return "", false
}

// appendUnescaped appends a query value in decoded form, because SDKs sign the decoded value of comp. It does not
// change a malformed escape.
func appendUnescaped(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '+' {
			c = ' '
		} else if c == '%' {
			if d, ok := percent.Byte(s, i); ok {
				c = d
				i += 2
			}
		}
		dst = append(dst, c)
	}
	return dst
}
