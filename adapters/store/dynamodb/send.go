package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"edgetable/core/table"
)

// class is what a failed call says about its effect.
type class uint8

const (
	// refused: it had none and never will; asking again would give the same.
	refused class = iota
	// conditional and cancelled: it had none, since a condition did not hold, or
	// since of a transaction's actions some failed.
	conditional
	cancelled
	// unreadable: a transaction had none, but to say why takes more than a reply.
	unreadable
	// busy: it had none, for now.
	busy
	// ambiguous: it may have had its effect, or may still have it.
	ambiguous
)

// failure is the error of one call with its class.
type failure struct {
	class class
	err   error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// sentKey finds in a call's context the flag that tells whether it was sent.
type sentKey struct{}

// sentMarker sets the flag: what fails before, such as a lack of credentials, had
// no effect. It bounds replies too, which the SDK reads to their end whatever that
// is, and lets nobody close a connection too early.
type sentMarker struct{ dynamodb.HTTPClient }

func (m sentMarker) Do(r *http.Request) (*http.Response, error) {
	if sent, ok := r.Context().Value(sentKey{}).(*atomic.Bool); ok {
		sent.Store(true)
	}
	// The SDK closes the request when the reply begins. What net/http then looks for
	// behind its last byte, by WriteTo, is an error, for which it closes the connection
	// in the middle of the reply; Read finds the end.
	if r.Body != nil {
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	answer, err := m.HTTPClient.Do(r)
	if err == nil {
		answer.Body = &reply{answer.Body, maxReply}
	}
	return answer, err
}

// maxReply is more than any reply has, in bytes: items of 16 MiB, of which JSON
// writes a control character as six.
const maxReply = 128 << 20

var errReply = errors.New("dynamodb: a reply is larger than those of DynamoDB are")

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

// attempt makes one call under its own time limit. Its error is a *failure.
func (s *Store) attempt(ctx context.Context, call func(ctx context.Context) error) error {
	if s.now() > untilOf(ctx) {
		return &failure{refused, errFrozen}
	}
	var sent atomic.Bool
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, sentKey{}, &sent), s.attemptTime)
	defer cancel()
	err := call(ctx)
	if err == nil {
		return nil
	}
	if !sent.Load() {
		if ctx.Err() != nil {
			return &failure{busy, err}
		}
		return &failure{refused, err}
	}
	return &failure{classify(err), err}
}

// classify judges the error of a call that was sent.
func classify(err error) class {
	var answer *smithyhttp.ResponseError
	if errors.As(err, &answer) && answer.HTTPStatusCode() >= http.StatusInternalServerError {
		return ambiguous
	}
	var api smithy.APIError
	if !errors.As(err, &api) {
		if answer != nil && answer.HTTPStatusCode() >= http.StatusBadRequest {
			return busy // it was refused, only the reason did not arrive
		}
		if dial := (*net.OpError)(nil); errors.As(err, &dial) && dial.Op == "dial" {
			return busy // there was no connection to send it on
		}
		return ambiguous
	}
	switch api.ErrorCode() {
	case "ConditionalCheckFailedException":
		return conditional
	case "TransactionCanceledException":
		return cancellation(err)
	case "TransactionConflictException", "ReplicatedWriteConflictException",
		"ProvisionedThroughputExceededException", "ThrottlingException", "Throttling", "RequestLimitExceeded":
		return busy
	case "TransactionInProgressException":
		return ambiguous
	case "ValidationException":
		// What the conditions of a transaction found is limited in sum, which has
		// no code of its own. If it was something else, reading tells nothing new.
		if strings.Contains(err.Error(), "TransactWriteItems") {
			return unreadable
		}
	}
	return refused
}

// cancellation tells a transaction that others were in the way of, and that may
// be sent anew, from one that cannot be carried out.
func cancellation(err error) class {
	var c *types.TransactionCanceledException
	if !errors.As(err, &c) || len(c.CancellationReasons) == 0 {
		return refused
	}
	for _, r := range c.CancellationReasons {
		switch aws.ToString(r.Code) {
		case reasonNone, "TransactionConflict", "ProvisionedThroughputExceeded", "ThrottlingError":
		default:
			return cancelled
		}
	}
	return busy
}

// Reasons of a cancelled transaction, one an action.
const (
	reasonNone      = "None"
	reasonCondition = "ConditionalCheckFailed"
)

// classOf is the class of an attempt's error.
func classOf(err error) class {
	if f := (*failure)(nil); errors.As(err, &f) {
		return f.class
	}
	return refused
}

// oldItem is the item on which the condition of a single write failed, nil if
// there was none.
func oldItem(err error) item {
	if c := (*types.ConditionalCheckFailedException)(nil); errors.As(err, &c) {
		return c.Item
	}
	return nil
}

// repeat makes a call that may be made any number of times: a read, or a write
// that does the same each time. Its error is that of ctx, [table.ErrBusy] or the
// call's.
func (s *Store) repeat(ctx context.Context, call func(ctx context.Context) error) error {
	_, err := s.repeated(ctx, call)
	return err
}

// repeated is repeat, and tells whether a call that was made may still have its
// effect, or have it once more.
func (s *Store) repeated(ctx context.Context, call func(ctx context.Context) error) (late bool, err error) {
	for n := 0; ; n++ {
		err := s.attempt(ctx, call)
		if err == nil {
			return late, nil
		}
		c := classOf(err)
		late = late || c == ambiguous
		if c != busy && c != ambiguous || errors.Is(err, errReply) {
			return late, err
		}
		if ctxErr := ctx.Err(); ctxErr != nil {
			return late, ctxErr
		}
		if n == maxRepeats || !s.pause(ctx, n) {
			if c == busy {
				return late, outcome(err)
			}
			return late, err
		}
	}
}

const (
	maxRepeats = 12
	minPause   = 10 * time.Millisecond
	maxPause   = 640 * time.Millisecond
)

// pause waits for a random time before attempt n+1, longer each time. It returns
// false at once if ctx would end before that.
func (s *Store) pause(ctx context.Context, n int) bool {
	longest := min(minPause<<min(n, 10), maxPause)
	d := time.Duration(s.rand() % uint64(longest))
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= d {
		return false
	}
	return s.sleep(ctx, d) == nil
}

// once makes a write that may be made once, again only where it had no effect.
// Its error is a *failure or that of ctx.
func (s *Store) once(ctx context.Context, call func(ctx context.Context) error) error {
	for n := 0; ; n++ {
		err := s.attempt(ctx, call)
		if err == nil || classOf(err) != busy {
			return err
		}
		if ctxErr := ctx.Err(); ctxErr != nil {
			return ctxErr
		}
		if n == maxRepeats || !s.pause(ctx, n) {
			return err
		}
	}
}

// outcome is the error of a write as the port has it.
func outcome(err error) error {
	f := (*failure)(nil)
	if !errors.As(err, &f) {
		return err
	}
	switch f.class {
	case busy:
		return fmt.Errorf("%w: %w", table.ErrBusy, f.err)
	case ambiguous:
		return fmt.Errorf("%w: %w", table.ErrUnknown, f.err)
	}
	return f.err
}
