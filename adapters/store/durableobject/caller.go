package durableobject

import (
	"context"
	"errors"
	"time"

	"edgetable/adapters/store/durableobject/internal/message"
)

// Address is the address of a Durable Object. The jurisdiction is part of the object's identity. The hint
// says where the platform creates the object, which then stays at that location. The names of bucket
// objects contain the hint: a table with another hint has other objects.
type Address struct {
	Name         string
	Jurisdiction string // "" means no jurisdiction
	Hint         string // "" creates the object near its first caller
}

// Call is a message to an object. It is read-only and valid until [Caller].Call returns.
type Call struct {
	To      Address
	Message []byte
}

// Writes reports whether the call may change the object. A Caller must not repeat such a call by itself.
func (c Call) Writes() bool { return message.IsWrite(c.Message) }

// Answer is the result of a Call: a message, which the caller owns, or one of the errors below.
type Answer struct {
	Message []byte
	Err     error
}

// The errors of an Answer. Any other error is treated as [ErrLost].
var (
	// ErrOverloaded means that the object refused the message because it is overloaded. The
	// message was not handled. The sender must not send it again at once.
	ErrOverloaded = errors.New("object is overloaded")
	// ErrLost means that the message may have been handled, or may be handled later.
	ErrLost = errors.New("reply of the object was lost")
	// ErrUnreachable means that the message was not handled and will not be handled.
	ErrUnreachable = errors.New("object was not reached")
)

// FailedError means that the object cannot handle the message, and would also fail if the message were
// repeated. The message was not handled.
type FailedError struct{ Reason string } // the reason, for the log

func (e *FailedError) Error() string { return "object failed: " + e.Reason }

// Caller sends messages to objects.
type Caller interface {
	// Call makes all calls concurrently and returns their answers in order. When ctx
	// ends it may return earlier, with ErrLost for messages that were sent.
	Call(ctx context.Context, calls []Call) []Answer
}

// Pauser is a Caller that can wait. If a Caller is no Pauser, the Store repeats lost messages without a
// pause.
type Pauser interface {
	Pause(ctx context.Context, d time.Duration)
}
