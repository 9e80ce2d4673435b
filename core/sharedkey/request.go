package sharedkey

import (
	"strings"

	"edgetable/core/percent"
)

// Request is what may be signed of a request, each field exactly as it stood
// on the wire and empty if it was absent.
type Request struct {
	Method      string // the verb of the request line, POST when tunnelling another
	Path        string // of the request target: percent-encoding untouched, no query; of an absolute target the path
	RawQuery    string // what followed the question mark; only the value of comp is signed
	ContentMD5  string
	ContentType string
	Date        string // the Date header
	XMSDate     string // the x-ms-date header, which replaces Date
}

// date returns the date that is signed. As for the service, x-ms-date counts
// alone if it is there: a client sends it because something on its way
// rewrites Date, and a signature over Date is not tried beside it.
func (r *Request) date() string {
	if r.XMSDate != "" {
		return r.XMSDate
	}
	return r.Date
}

// StringToSign returns the text whose HMAC-SHA256 is the signature. The
// account is the name of the primary, without "-secondary".
func StringToSign(scheme Scheme, account string, req Request) string {
	return string(appendStringToSign(nil, scheme, account, req.Path, &req))
}

// appendStringToSign takes the path apart from the request, because
// verification tries several spellings of it.
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

// appendResource appends the CanonicalizedResource. For a path-style address
// the account appears twice, since it is part of the path as well.
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

// comp finds the first comp parameter. Its name is case-insensitive and may be
// escaped: whatever a server takes for comp has to be signed.
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

// appendUnescaped appends a query value decoded, which is how SDKs sign comp.
// A broken escape stays as it is.
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
