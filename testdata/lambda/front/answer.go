package front

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf8"
)

// limit is the maximum size of an event or a response in bytes.
const limit = 6 << 20

var errTooLarge = errors.New("the event is too large")

// Response is the response that a client receives.
type Response struct {
	Status int
	Header []Field
	Body   []byte
}

// Answer parses the response of a function in the mode BUFFERED.
func Answer(b []byte, now time.Time) (*Response, error) {
	if len(b) > limit {
		return nil, fmt.Errorf("the answer has %d bytes", len(b))
	}
	if !utf8.Valid(b) {
		return nil, errors.New("the answer is not UTF-8")
	}
	var a struct {
		StatusCode      int
		Headers         map[string]string
		Body            string
		IsBase64Encoded bool
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return nil, fmt.Errorf("the answer %.200q: %w", b, err)
	}
	body := []byte(a.Body)
	if a.IsBase64Encoded {
		var err error
		if body, err = base64.StdEncoding.Strict().DecodeString(a.Body); err != nil {
			return nil, fmt.Errorf("the body: %w", err)
		}
	}
	return response(a.StatusCode, a.Headers, body, now)
}

// Stream parses the response of a function in the mode RESPONSE_STREAM: a prelude in JSON, eight zero bytes, then the
// body.
func Stream(b []byte, now time.Time) (*Response, error) {
	prelude, body, ok := bytes.Cut(b, make([]byte, 8))
	if !ok {
		return nil, fmt.Errorf("no prelude ends in %.200q", b)
	}
	var a struct {
		StatusCode int
		Headers    map[string]string
		Cookies    []string
	}
	d := json.NewDecoder(bytes.NewReader(prelude))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return nil, fmt.Errorf("the prelude %.200q: %w", prelude, err)
	}
	return response(a.StatusCode, a.Headers, body, now)
}

// response makes the response that a client receives. It adds the header Date, as AWS's front end does.
func response(status int, header map[string]string, body []byte, now time.Time) (*Response, error) {
	if status < 200 || status > 599 {
		return nil, fmt.Errorf("status %d", status)
	}
	r := &Response{Status: status, Body: body}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		switch name {
		case "Date", "Content-Length", "Connection", "Transfer-Encoding":
			return nil, fmt.Errorf("the answer has %s, which is the front door's", name)
		}
		r.Header = append(r.Header, Field{name, header[name]})
	}
	r.Header = append(r.Header, Field{"Date", now.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT")})
	return r, nil
}
