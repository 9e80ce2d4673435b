package lambdaurl

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
)

// cutBody separates the body from the rest of an event, because a JSON decoder would scan a large body four times. If
// the event has no body or several bodies, it returns the event unchanged. It does not check that the event is valid.
func cutBody(event []byte) (rest, body []byte) {
	start, end, depth := -1, -1, 0
	for i := 0; i < len(event); i++ {
		switch event[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			n := quotedLen(event[i:])
			if n < 0 {
				return event, nil
			}
			if depth == 1 && string(event[i:i+n]) == `"body"` {
				value, ok := bytes.CutPrefix(bytes.TrimLeft(event[i+n:], " \t\r\n"), []byte(":"))
				if value = bytes.TrimLeft(value, " \t\r\n"); !ok || start >= 0 || len(value) == 0 || value[0] != '"' {
					return event, nil
				}
				i = len(event) - len(value)
				if n = quotedLen(value); n < 0 {
					return event, nil
				}
				start, end = i, i+n
			}
			i += n - 1
		}
	}
	if start < 0 {
		return event, nil
	}
	rest = make([]byte, 0, len(event)-(end-start)+2)
	rest = append(append(append(rest, event[:start]...), `""`...), event[end:]...)
	return rest, event[start:end]
}

// quotedLen returns the length of the JSON string at the start of b, or -1 if the string does not end.
func quotedLen(b []byte) int {
	for i := 1; ; i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		escapes := 0
		for b[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i + 1
		}
	}
}

// open returns a reader of the body, and the length of the body. The reader decodes base64, and refers to the event's
// memory. The length of malformed base64 is only approximate.
func (e *event) open(quoted []byte) (io.Reader, int64, error) {
	text := []byte(e.Body)
	switch {
	case quoted == nil:
	case e.IsBase64Encoded && bytes.IndexByte(quoted, '\\') < 0:
		text = quoted[1 : len(quoted)-1]
	default:
		var s string
		if err := json.Unmarshal(quoted, &s); err != nil {
			return nil, 0, err
		}
		text = []byte(s)
	}
	if len(text) == 0 {
		return nil, 0, nil
	}
	r := bytes.NewReader(text)
	if !e.IsBase64Encoded {
		return r, int64(len(text)), nil
	}
	n := base64.StdEncoding.DecodedLen(len(text))
	for _, padding := range []string{"=", "=="} {
		if len(text)%4 == 0 && bytes.HasSuffix(text, []byte(padding)) {
			n--
		}
	}
	return base64.NewDecoder(base64.StdEncoding, r), int64(n), nil
}
