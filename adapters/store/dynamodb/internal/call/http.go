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

// sentMarker is an HTTP client that marks a call as sent. A call that fails without the mark, for example for lack of
// credentials, had no effect. sentMarker also limits the size of replies.
type sentMarker struct{ dynamodb.HTTPClient }

func (m sentMarker) Do(r *http.Request) (*http.Response, error) {
	if sent, ok := r.Context().Value(sentKey{}).(*atomic.Bool); ok {
		sent.Store(true)
	}
	// The SDK closes the request body when the reply begins. WriteTo of a closed body returns an error, which makes
	// net/http close the connection before the reply has been read. The wrapper hides WriteTo, so that net/http calls
	// Read, which returns EOF.
	if r.Body != nil {
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	answer, err := m.HTTPClient.Do(r)
	if err == nil {
		answer.Body = &reply{answer.Body, maxReply}
	}
	return answer, err
}

// maxReply is larger than every valid reply, in bytes. A reply contains at most 16 MiB of items, and JSON may need six
// bytes for one.
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
