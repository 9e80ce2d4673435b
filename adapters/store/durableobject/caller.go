package durableobject

import (
	"context"
	"errors"
	"time"

	"edgetable/adapters/store/durableobject/internal/message"
)

// Address is the address of a Durable Object. The jurisdiction is part of its identity.
// The hint says where to create it; an object never moves, so that names of buckets
// contain the hint too.
type Address struct {
	Name         string
	Jurisdiction string // "" = none
	Hint         string // "" = near the first caller
}

// Call is a message to an object. It is read-only and valid until Call returns.
type Call struct {
	To      Address
	Message []byte
}

// Writes reports whether the call may change the object, so that it must not be made
// twice.
func (c Call) Writes() bool { return message.IsWrite(c.Message) }

// Answer is the result of a Call: a message, which the caller owns, or one of the
// errors below.
type Answer struct {
	Message []byte
	Err     error
}

// The errors of an Answer. Any other counts as [ErrLost].
var (
	// ErrOverloaded means that the object refused the message because it is overloaded. It
	// was not handled; do not send it again at once.
	ErrOverloaded = errors.New("object is overloaded")
	// ErrLost means that the message may have been handled, or may still be.
	ErrLost = errors.New("answer of the object was lost")
	// ErrUnreachable means that the message was not handled and will not be.
	ErrUnreachable = errors.New("object was not reached")
)

// FailedError says that the object cannot handle the message and would fail again. It
// was not handled.
type FailedError struct{ Reason string } // for the log

func (e *FailedError) Error() string { return "object failed: " + e.Reason }

// Caller sends messages to objects.
type Caller interface {
	// Call makes all calls concurrently and returns their answers in order. When ctx
	// ends it may return earlier, with ErrLost for messages that were sent.
	Call(ctx context.Context, calls []Call) []Answer
}

// Pauser is a Caller that can wait. Without it, lost messages are sent again at once.
type Pauser interface {
	Pause(ctx context.Context, d time.Duration)
}
