package durableobject

import (
	"context"
	"errors"
	"time"

	"edgetable/adapters/store/durableobject/internal/message"
)

// Address is the address of a Durable Object. The hint only says where the platform creates the object.
//
// The name of a bucket object contains the hint, so a table with another hint has other objects.
type Address struct {
	Name         string
	Jurisdiction string // "" means that the object has no jurisdiction
	Hint         string // if the hint is "", the platform creates the object near its first caller
}

// Call is a message to an object. It is read-only and valid until [Caller].Call returns.
type Call struct {
	To      Address
	Message []byte
}

// Writes reports whether the call may change the object. A Caller must not retry such a call.
func (c Call) Writes() bool { return message.IsWrite(c.Message) }

// Answer is the result of a Call: either a message, which the caller owns, or an error.
type Answer struct {
	Message []byte
	Err     error
}

// These are the errors of an Answer, besides [FailedError]. The Store treats any other error as [ErrLost].
var (
	// ErrOverloaded means that an overloaded object rejected the message without handling it. The message must not be
	// retried at once.
	ErrOverloaded = errors.New("object is overloaded")
	// ErrLost means that the message may have been handled, or may be handled later.
	ErrLost = errors.New("reply of the object was lost")
	// ErrUnreachable means that the message was not handled and will not be handled.
	ErrUnreachable = errors.New("object was not reached")
)

// FailedError means that the object cannot handle the message. The message was not handled, and a retry would fail too.
type FailedError struct{ Reason string } // reason why the object cannot handle the message, for the log

func (e *FailedError) Error() string { return "object failed: " + e.Reason }

// Caller sends messages to objects.
type Caller interface {
	// Call makes all calls concurrently and returns their answers in order. When ctx is done, calls without an answer
	// may get ErrLost.
	Call(ctx context.Context, calls []Call) []Answer
}

// Pauser is a Caller that can wait. With any other Caller, the Store retries lost messages without a pause.
type Pauser interface {
	Pause(ctx context.Context, d time.Duration)
}
