package durableobject

import (
	"context"
	"errors"
	"time"

	"edgetable/adapters/store/durableobject/internal/message"
)

// Object is one Durable Object by its name. The jurisdiction is part of its
// identity. The hint is where it is made, if it is not there yet; that it never
// moves is why it is in the names of buckets too.
type Address struct {
	Name         string
	Jurisdiction string // "" = none
	Hint         string // "" = near who calls first
}

// Call is a message to an object. It is read-only, and good until Call returned.
type Call struct {
	To      Address
	Message []byte
}

// Writes reports whether the object may keep something of the call, so that it
// matters how often it is made.
func (c Call) Writes() bool { return message.IsWrite(c.Message) }

// Answer is what came of a Call: a message, which belongs to the receiver, or
// one of the errors below.
type Answer struct {
	Message []byte
	Err     error
}

// The errors of an Answer. Any other is taken for [ErrLost].
var (
	// ErrOverloaded: the object refused the message because it has too much to
	// do. It was not handled, and is not to be sent again at once.
	ErrOverloaded = errors.New("object is overloaded")
	// ErrLost: the message may have been handled, or may still be.
	ErrLost = errors.New("answer of the object was lost")
	// ErrUnreachable: the message was not handled and will not be.
	ErrUnreachable = errors.New("object was not reached")
)

// FailedError is that of a message which the object was unable to handle, and
// would be again. It was not handled.
type FailedError struct{ Reason string } // for the log

func (e *FailedError) Error() string { return "object failed: " + e.Reason }

// Caller sends messages to objects.
type Caller interface {
	// Call makes all calls at once and returns when all have ended, with their
	// answers in order. When ctx ends it may return earlier: with ErrLost for
	// what was sent.
	Call(ctx context.Context, calls []Call) []Answer
}

// Pauser is a Caller that can wait. One that cannot has lost messages sent
// again at once.
type Pauser interface {
	Pause(ctx context.Context, d time.Duration)
}
