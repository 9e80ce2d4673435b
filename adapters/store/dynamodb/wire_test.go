package dynamodb_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// wire is an HTTP client that passes the calls of a store to DynamoDB Local, counts them,
// and makes some of them fail as a test demands. The faults change the HTTP messages, so
// the tests include the SDK's reaction.
type wire struct {
	t     testing.TB
	table string

	mu     sync.Mutex
	calls  []call
	faults map[string][]fault
	always func(operation string) fault // returns the fault of a call that has no entry in faults
}

// call is one request that was sent, even if a fault kept the request from the server.
type call struct {
	operation   string
	size        int
	read, write float64 // capacity units consumed
}

// fault determines what happens to one call.
type fault struct {
	how  how
	then func() // called before the client gets its response
}

type how uint8

const (
	none        how = iota
	throttled       // refused by throttling
	conflicting     // refused because of a conflict with a transaction
	lost            // the request did not reach the server
	applied         // the call was applied, and the reply was lost
	broken          // status 500, and the call was not applied
	brokenAfter     // status 500, and the call was applied
	delayed         // the client gets an error, and the call is applied later
	partly          // only a part of the page or of the batch is processed
	cut             // the response ends after its header
	mixed           // the first of two actions conflicts, and the condition of the second action fails
)

func (h how) String() string {
	return [...]string{"none", "throttled", "conflicting", "lost", "applied", "broken", "brokenAfter", "delayed", "partly", "cut", "mixed"}[h]
}

var errLost = errors.New("connection reset by test")

func (w *wire) fail(operation string, faults ...fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.faults == nil {
		w.faults = make(map[string][]fault)
	}
	w.faults[operation] = append(w.faults[operation], faults...)
}

// take returns the recorded calls to DynamoDB, and clears the list. The test fails if a
// fault was set and did not happen.
func (w *wire) take() []call {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := w.calls
	w.calls = nil
	for operation, left := range w.faults {
		if len(left) > 0 {
			w.t.Errorf("%d faults of %s did not happen", len(left), operation)
		}
	}
	w.faults = nil
	return calls
}

// Do implements the SDK's HTTPClient.
func (w *wire) Do(r *http.Request) (*http.Response, error) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	var f fault
	if list := w.faults[operation]; len(list) > 0 {
		f, w.faults[operation] = list[0], list[1:]
	} else if w.always != nil {
		f = w.always(operation)
	}
	w.calls = append(w.calls, call{operation: operation, size: len(body)})
	n := len(w.calls) - 1
	w.mu.Unlock()

	switch f.how {
	case throttled:
		f.happened()
		return refusal(r, 400, "ThrottlingException", ""), nil
	case conflicting:
		f.happened()
		if operation == "TransactWriteItems" {
			return refusal(r, 400, "TransactionCanceledException", `,"CancellationReasons":[{"Code":"None"},{"Code":"TransactionConflict","Message":"x"}]`), nil
		}
		return refusal(r, 400, "TransactionConflictException", ""), nil
	case mixed:
		f.happened()
		return refusal(r, 400, "TransactionCanceledException", `,"CancellationReasons":[{"Code":"TransactionConflict"},{"Code":"ConditionalCheckFailed"}]`), nil
	case lost:
		f.happened()
		return nil, errLost
	case broken:
		f.happened()
		return refusal(r, 500, "InternalServerError", ""), nil
	case delayed:
		copied := r.Clone(w.t.Context())
		f.happened()
		go w.forward(copied, operation, body, n) // the call is applied later, or never
		return nil, errLost
	case partly:
		if operation == "BatchWriteItem" || operation == "BatchGetItem" {
			return w.part(r, operation, body, n)
		}
		body = limit(body)
	}
	answer, err := w.forward(r, operation, body, n)
	if f.how == applied || f.how == brokenAfter {
		if err != nil {
			return nil, err
		}
		answer.Body.Close()
		f.happened()
		if f.how == brokenAfter {
			return refusal(r, 500, "InternalServerError", ""), nil
		}
		return nil, errLost
	}
	f.happened()
	if f.how == cut && err == nil {
		answer.Body = io.NopCloser(failing{})
	}
	return answer, err
}

// failing is a response body whose Read returns an error.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errLost }

func (f fault) happened() {
	if f.then != nil {
		f.then()
	}
}

// forward sends the call to the server and records the capacity that it consumed.
func (w *wire) forward(r *http.Request, operation string, body []byte, n int) (*http.Response, error) {
	switch operation {
	case "CreateTable", "DescribeTable", "DeleteTable", "Scan":
	default:
		body = append([]byte(`{"ReturnConsumedCapacity":"TOTAL",`), body[1:]...)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	answer, err := connections.Do(r)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	if err != nil {
		return nil, err
	}
	answer.Body = io.NopCloser(bytes.NewReader(text))
	var out struct {
		ConsumedCapacity json.RawMessage
	}
	if json.Unmarshal(text, &out) == nil {
		units := consumed(out.ConsumedCapacity)
		if operation == "TransactWriteItems" || answer.StatusCode == http.StatusBadRequest {
			units = ruled(body, text)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if n < len(w.calls) {
			if operation == "GetItem" || operation == "Query" || operation == "BatchGetItem" {
				w.calls[n].read = units
			} else {
				w.calls[n].write = units
			}
		}
	}
	return answer, nil
}

func refusal(r *http.Request, status int, code, more string) *http.Response {
	body := `{"__type":"com.amazonaws.dynamodb.v20120810#` + code + `","message":"by test"` + more + `}`
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header:        http.Header{"Content-Type": {"application/x-amz-json-1.0"}, "Content-Length": {strconv.Itoa(len(body))}},
		ContentLength: int64(len(body)),
		Body:          io.NopCloser(strings.NewReader(body)),
	}
}

// limit changes the body of a Query so that the Query returns one item.
func limit(body []byte) []byte {
	var in map[string]json.RawMessage
	if json.Unmarshal(body, &in) != nil || in["KeyConditionExpression"] == nil {
		return body
	}
	in["Limit"] = json.RawMessage("1")
	out, _ := json.Marshal(in)
	return out
}

// part sends only the first item of a batch to DynamoDB, and returns the other
// items as unprocessed. If a batch has one item, part sends nothing and returns this item
// as unprocessed.
func (w *wire) part(r *http.Request, operation string, body []byte, n int) (*http.Response, error) {
	var in struct {
		RequestItems map[string]json.RawMessage
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	left, field := make(map[string]any), "UnprocessedItems"
	for table, raw := range in.RequestItems {
		var list []json.RawMessage
		var keys map[string]json.RawMessage
		if operation == "BatchGetItem" {
			field = "UnprocessedKeys"
			_ = json.Unmarshal(raw, &keys)
			_ = json.Unmarshal(keys["Keys"], &list)
		} else {
			_ = json.Unmarshal(raw, &list)
		}
		if len(list) == 1 {
			left[table] = raw
			all, _ := json.Marshal(map[string]any{field: left, "Responses": map[string]any{}})
			return &http.Response{
				StatusCode: 200, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
				Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, ContentLength: int64(len(all)),
				Body: io.NopCloser(bytes.NewReader(all)),
			}, nil
		}
		cut := func(list []json.RawMessage) json.RawMessage {
			raw, _ := json.Marshal(list)
			if keys == nil {
				return raw
			}
			keys["Keys"] = raw
			raw, _ = json.Marshal(keys)
			return raw
		}
		left[table] = cut(list[1:])
		in.RequestItems[table] = cut(list[:1])
	}
	body, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	answer, err := w.forward(r, operation, body, n)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	if err := json.NewDecoder(answer.Body).Decode(&out); err != nil {
		return nil, err
	}
	out[field] = left
	text, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	answer.Body = io.NopCloser(bytes.NewReader(text))
	answer.Header.Del("X-Amz-Crc32")
	answer.Header.Set("Content-Length", strconv.Itoa(len(text)))
	answer.ContentLength = int64(len(text))
	return answer, nil
}

func operations(calls []call) (list []string) {
	for _, c := range calls {
		list = append(list, c.operation)
	}
	return list
}

// forget drops all faults that did not happen, and all recorded calls.
func (w *wire) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults, w.calls = nil, nil
}
