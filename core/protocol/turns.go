package protocol

import (
	"context"
	"time"
)

// Turns shares the server fairly between payers: a request may run only while it has a turn. The handler requests the
// turn only when the payer is known and the body has arrived.
type Turns interface {
	// Begin waits until the request may run, and returns its turn and the time that it waited. A nil turn means that
	// too many requests are waiting: the handler refuses the request.
	Begin(ctx context.Context, w Work) (t Turn, waited time.Duration)
}

// Turn permits a request to run until the request calls End.
type Turn interface {
	// Pause is called during a long operation with its cost so far. It may block. If it returns true, the operation
	// should end soon, for example with a shorter page.
	Pause(ctx context.Context, cost int64) (end bool)
	// End releases the turn and charges the cost of the request to the payer.
	End(cost int64)
}

// Work describes a request to [Turns.Begin].
type Work struct {
	// Payer is the account of an authenticated request. Otherwise it is the network address of the client, in a form
	// that no account name has.
	Payer string
	// IsAccount is set if the payer is an account.
	IsAccount bool
	Write     bool
	// Query is set if the cost of the request depends on the stored data.
	Query bool
	// Cost is the minimum cost of the request.
	Cost int64
}
