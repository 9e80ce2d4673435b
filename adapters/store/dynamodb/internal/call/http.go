package call

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// sentKey finds in a context the flag that tells whether its call was sent.
type sentKey struct{}

// sentMarker sets the flag: a failure before it, such as missing credentials, had no
// effect. It also limits replies, which the SDK reads to their end, and prevents that
// a connection is closed too early.
type sentMarker struct{ dynamodb.HTTPClient }

func (m sentMarker) Do(r *http.Request) (*http.Response, error) {
	if sent, ok := r.Context().Value(sentKey{}).(*atomic.Bool); ok {
		sent.Store(true)
	}
	// The SDK closes the request when the reply begins. If net/http then reads the
	// request by WriteTo, it gets an error instead of the end and closes the connection
	// in the middle of the reply. By Read it gets the end.
	if r.Body != nil {
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	answer, err := m.HTTPClient.Do(r)
	if err == nil {
		answer.Body = &reply{answer.Body, maxReply}
	}
	return answer, err
}

// maxReply is larger than every reply, in bytes: 16 MiB of items, in which JSON
// writes a control character as six characters.
const maxReply = 128 << 20

var errReply = errors.New("dynamodb: a reply is larger than DynamoDB's replies are")

// reply is a body that is read up to a limit.
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
