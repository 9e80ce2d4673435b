package lambdaurl

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"edgetable/core/protocol"
)

// encodeResponse returns the response in the form that the front door expects, or nil if it is too large.
//
// It sends a body as text if the text is shorter than base64. It always sends a batch as base64, so that no gateway
// changes the line endings.
func (d *door) encodeResponse(method string, resp *protocol.Response) []byte {
	body := resp.Body
	if method == http.MethodHead {
		body = nil
	}
	text := utf8.Valid(body)
	size := escapedLen(body)
	if encoded := base64.StdEncoding.EncodedLen(len(body)); !text || d.binary && (encoded < size || multipart(resp)) {
		text, size = false, encoded
	}
	if size > d.limit {
		return nil
	}
	b := make([]byte, 0, size+1024)
	b = append(b, `{"statusCode":`...)
	b = strconv.AppendInt(b, int64(resp.Status), 10)
	if d.multi {
		b = append(b, `,"statusDescription":`...)
		b = appendQuoted(b, []byte(strconv.Itoa(resp.Status)+" "+cmp.Or(resp.Reason, http.StatusText(resp.Status))))
	}
	b = d.appendHeader(b, resp)
	if text {
		b = append(b, `,"isBase64Encoded":false,"body":`...)
		b = appendQuoted(b, body)
	} else {
		b = append(b, `,"isBase64Encoded":true,"body":"`...)
		b = base64.StdEncoding.AppendEncode(b, body)
		b = append(b, '"')
	}
	if b = append(b, '}'); len(b) > d.limit {
		return nil
	}
	return b
}

func multipart(resp *protocol.Response) bool {
	for _, f := range resp.Header {
		if f.Name == "Content-Type" {
			return strings.HasPrefix(f.Value, "multipart/")
		}
	}
	return false
}

// lines iterates over the header names: it calls f with each name and the joined values of the name. It omits the
// headers that the front door sets.
func lines(resp *protocol.Response, f func(name, value string)) {
	for i, field := range resp.Header {
		if field.Name == "Date" || field.Name == "Content-Length" || has(resp.Header[:i], field.Name) {
			continue
		}
		value := field.Value
		for _, other := range resp.Header[i+1:] {
			if other.Name == field.Name {
				value += ", " + other.Value
			}
		}
		f(field.Name, value)
	}
}

func has(header []protocol.Field, name string) bool {
	return slices.ContainsFunc(header, func(f protocol.Field) bool { return f.Name == name })
}

func (d *door) appendHeader(b []byte, resp *protocol.Response) []byte {
	before, after := `,"headers":{`, ""
	if d.multi {
		before, after = `,"multiValueHeaders":{`, "]"
	}
	b = append(b, before...)
	first := true
	lines(resp, func(name, value string) {
		if !first {
			b = append(b, ',')
		}
		first = false
		b = appendQuoted(b, []byte(name))
		b = append(b, ':')
		if d.multi {
			b = append(b, '[')
		}
		b = appendQuoted(b, []byte(value))
		b = append(b, after...)
	})
	return append(b, '}')
}

// escapes contains the length of each byte in a JSON string.
var escapes = func() (n [256]uint8) {
	for i := range n {
		switch {
		case i == '"' || i == '\\' || i == '\n' || i == '\r' || i == '\t':
			n[i] = 2
		case i < ' ':
			n[i] = 6
		default:
			n[i] = 1
		}
	}
	return n
}()

// escapedLen returns the length of s as a JSON string, without the quotes.
func escapedLen(s []byte) (n int) {
	for _, c := range s {
		n += int(escapes[c])
	}
	return n
}

// appendQuoted appends s to b as a JSON string. A header may contain invalid UTF-8, which appendQuoted copies and
// Lambda replaces.
func appendQuoted(b, s []byte) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i, c := range s {
		if escapes[c] == 1 {
			continue
		}
		b = append(b, s[start:i]...)
		start = i + 1
		switch c {
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		case '"', '\\':
			b = append(b, '\\', c)
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}
