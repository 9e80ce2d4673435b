package multipart

import "strings"

// maxBoundary is the maximum length of a boundary in bytes. MIME allows 70. Clients send a GUID with a prefix, which is
// shorter.
const maxBoundary = 200

// Boundary returns the boundary parameter of a multipart/mixed content type. Unlike mime.ParseMediaType, it accepts
// unquoted boundaries such as batch(guid), which clients send.
func Boundary(contentType string) (string, error) {
	mediaType, params, _ := strings.Cut(contentType, ";")
	if !strings.EqualFold(strings.Trim(mediaType, " \t"), "multipart/mixed") {
		return "", badBoundary(0, "the content type is not multipart/mixed")
	}
	for params != "" {
		at := len(contentType) - len(params)
		name, value, rest, ok := cutParam(params)
		if !ok {
			return "", badBoundary(at, "malformed parameter in the content type")
		}
		params = rest
		if !strings.EqualFold(name, "boundary") {
			continue
		}
		// A boundary must not end with a blank, because blanks may follow it in a delimiter line.
		if value == "" || len(value) > maxBoundary || value[len(value)-1] == ' ' || !printable(value) {
			return "", badBoundary(at, "the boundary must be 1 to 200 printable ASCII characters and must not end with a space")
		}
		return value, nil
	}
	return "", badBoundary(len(contentType), "the content type has no boundary")
}

// cutParam cuts the first parameter from "name=value;…" and removes quotes. The name of an empty parameter, as in
// "a=b;;c=d", is "".
func cutParam(s string) (name, value, rest string, ok bool) {
	end := strings.IndexAny(s, ";=")
	if end < 0 || s[end] == ';' {
		name = strings.Trim(s, " \t")
		if end >= 0 {
			name, rest = strings.Trim(s[:end], " \t"), s[end+1:]
		}
		return "", "", rest, name == ""
	}
	name = strings.Trim(s[:end], " \t")
	s = strings.TrimLeft(s[end+1:], " \t")
	if !strings.HasPrefix(s, `"`) {
		value, rest, _ = strings.Cut(s, ";")
		return name, strings.TrimRight(value, " \t"), rest, true
	}
	var b []byte
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			rest = strings.TrimLeft(s[i+1:], " \t")
			if rest == "" {
				return name, string(b), "", true
			}
			rest, ok = strings.CutPrefix(rest, ";")
			return name, string(b), rest, ok
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		b = append(b, s[i])
	}
	return "", "", "", false
}

func printable(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

func badBoundary(at int, detail string) error {
	return &Error{Reason: Malformed, Operation: -1, Offset: at, Detail: detail}
}
