package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Error is an error response of the service.
type Error struct {
	Status  int
	Code    string // error code, such as EntityAlreadyExists
	Message string // first line of the service's message
	Index   int    // index of the failed operation in a batch; -1 if the service does not name one
	Advice  string // what the user can do about the error; often empty

	// Repeated is true if the reply to an earlier attempt was lost. The earlier attempt may have succeeded.
	Repeated bool
}

func (e *Error) Error() string {
	text := "the service answers " + strconv.Itoa(e.Status)
	if e.Code != "" {
		text += " " + e.Code
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	if e.Advice != "" {
		text += "\n" + e.Advice
	}
	return text
}

// refusesLoad reports whether the service refused the request because of its load. A refused request had no effect.
func (e *Error) refusesLoad() bool {
	return e.Status == http.StatusServiceUnavailable || e.Status == http.StatusTooManyRequests
}

// HasCode reports whether err is an error response with one of the given codes.
func HasCode(err error, codes ...string) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && slices.Contains(codes, e.Code)
}

// TableGone reports whether err means that a table does not exist, or is being deleted.
func TableGone(err error) bool { return HasCode(err, "TableNotFound", "TableBeingDeleted") }

// transient returns true if a request that failed with the given status may be retried.
func transient(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

var (
	xmlCode    = regexp.MustCompile(`(?i)<(?:m:)?code>([^<]*)<`)
	xmlMessage = regexp.MustCompile(`(?i)<(?:m:)?message[^>]*>([^<]*)<`)
)

// ReadError parses an error body in JSON or XML. The message of any other body is the beginning of the body.
func ReadError(status int, body []byte) *Error {
	e := &Error{Status: status, Index: -1}
	var document struct {
		Error struct {
			Code    string `json:"code"`
			Message struct {
				Value string `json:"value"`
			} `json:"message"`
		} `json:"odata.error"`
	}
	if json.Unmarshal(body, &document) == nil {
		e.Code, e.Message = document.Error.Code, document.Error.Message.Value
	} else if code := xmlCode.FindSubmatch(body); code != nil {
		e.Code = string(code[1])
		if message := xmlMessage.FindSubmatch(body); message != nil {
			e.Message = string(message[1])
		}
	} else {
		e.Message = string(bytes.ToValidUTF8(body[:min(len(body), 200)], nil))
	}
	e.Message, _, _ = strings.Cut(e.Message, "\n")
	if head, rest, ok := strings.Cut(e.Message, ":"); ok {
		if n, err := strconv.ParseUint(head, 10, 8); err == nil {
			e.Index, e.Message = int(n), rest
		}
	}
	return e
}

// batchError returns the first error in the parts of a batch response, or nil.
func batchError(body []byte) *Error {
	for rest := body; ; {
		_, after, ok := bytes.Cut(rest, []byte("HTTP/1.1 "))
		if !ok {
			return nil
		}
		rest = after
		if len(after) < 3 {
			return &Error{Index: -1, Message: "the response to a batch is truncated"}
		}
		status, err := strconv.Atoi(string(after[:3]))
		if err != nil || status < http.StatusBadRequest {
			continue
		}
		_, text, _ := bytes.Cut(after, []byte("\r\n\r\n"))
		text, _, _ = bytes.Cut(text, []byte("\r\n--"))
		return ReadError(status, bytes.TrimSpace(text))
	}
}
