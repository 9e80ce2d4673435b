package sharedkey

import (
	"strings"

	"edgetable/core/percent"
)

// Request holds the parts of a request that a signature may cover, exactly as sent. A missing part is empty.
type Request struct {
	Method      string // verb in the request line; POST if x-http-method names another verb
	Path        string // escaped path of the request target, without scheme, host and query
	RawQuery    string // text after the question mark; only the value of comp is signed
	ContentMD5  string
	ContentType string
	Date        string
	XMSDate     string // x-ms-date header, which takes precedence over Date
}

// date returns the signed date of the request: x-ms-date or, without it, Date. As in the service, Date does not count
// if x-ms-date is present, because proxies may rewrite Date.
func (r *Request) date() string {
	if r.XMSDate != "" {
		return r.XMSDate
	}
	return r.Date
}

// StringToSign returns the text to sign. account does not have the suffix "-secondary" of the secondary endpoint.
func StringToSign(scheme Scheme, account string, req Request) string {
	return string(appendStringToSign(nil, scheme, account, req.Path, &req))
}

// appendStringToSign appends the StringToSign. path is a separate parameter, because verification tries several
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

// appendResource appends the CanonicalizedResource. It contains the account twice if the path begins with the account.
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

// comp returns the value of the first comp parameter. The name may be percent-encoded and in any case, because a
// signature covers every parameter that a server treats as comp.
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

// appendUnescaped appends a decoded query value, because SDKs sign the decoded value of comp. It leaves malformed
// escapes unchanged.
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
