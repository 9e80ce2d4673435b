package dynamodb_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
)

// tap is an HTTP client that records the calls of a store and passes them to DynamoDB
// Local.
type tap struct {
	// answer, if not nil, gets each call and may return another response body.
	answer func(sent) []byte

	mu   sync.Mutex
	list []sent
}

// sent is one call that was sent to the server.
type sent struct {
	operation string
	request   request
	answered  int // size of the response in bytes
	reply     reply
}

type request struct {
	ConsistentRead   bool
	FilterExpression string
	Limit            int
	RequestItems     map[string]struct{ ConsistentRead bool }
}

type reply struct {
	Count, ScannedCount int
	LastEvaluatedKey    json.RawMessage
}

func (s sent) strong() bool {
	for _, r := range s.request.RequestItems {
		return r.ConsistentRead
	}
	return s.request.ConsistentRead
}

// take returns the recorded calls to DynamoDB, and clears the list.
func (t *tap) take() []sent {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := t.list
	t.list = nil
	return list
}

// Do implements the SDK's HTTPClient.
func (t *tap) Do(r *http.Request) (*http.Response, error) {
	var s sent
	_, s.operation, _ = strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	_ = json.Unmarshal(body, &s.request) // calls of other operations have other fields
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer, err := connections.Do(r)
	if err != nil {
		return nil, err
	}
	body, err = io.ReadAll(answer.Body)
	answer.Body.Close()
	if err != nil {
		return nil, err
	}
	s.answered = len(body)
	_ = json.Unmarshal(body, &s.reply)
	if t.answer != nil {
		if other := t.answer(s); other != nil {
			body = other
			answer.Header.Del("X-Amz-Crc32")
			answer.Header.Del("Content-Length")
			answer.ContentLength = int64(len(body))
		}
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = append(t.list, s)
	return answer, nil
}
