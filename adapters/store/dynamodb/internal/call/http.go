package call

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// sentKey is the context key of a flag that records whether the call was sent.
type sentKey struct{}

// sentMarker is an HTTP client that marks a call as sent. A call that fails before it is marked, for example because
// credentials are missing, had no effect.
// sentMarker also limits the size of replies, and prevents net/http from closing a connection too early.
type sentMarker struct{ dynamodb.HTTPClient }

func (m sentMarker) Do(r *http.Request) (*http.Response, error) {
	if sent, ok := r.Context().Value(sentKey{}).(*atomic.Bool); ok {
		sent.Store(true)
	}
	// The SDK closes the request body when the reply begins, while net/http may still be reading the body. WriteTo of a
	// closed body fails, and net/http would then close the connection in the middle of the reply. The wrapper hides
	// WriteTo from net/http, which uses Read instead. Read of a closed body returns EOF.
	if r.Body != nil {
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	answer, err := m.HTTPClient.Do(r)
	if err == nil {
		answer.Body = &reply{answer.Body, maxReply}
	}
	return answer, err
}

// maxReply exceeds the size of every valid reply in bytes. A reply contains at most 16 MiB of items, and JSON may
// encode one byte of an item as six bytes.
const maxReply = 128 << 20

var errReply = errors.New("dynamodb: a reply is larger than DynamoDB allows")

type reply struct {
	io.ReadCloser
	left int
}

func (r *reply) Read(b []byte) (int, error) {
	if r.left <= 0 {
		return 0, errReply
	}
	n, err := r.ReadCloser.Read(b[:min(len(b), r.left)])
	r.left -= n
	return n, err
}
