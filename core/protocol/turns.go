package protocol

import (
	"context"
	"time"
)

// Turns shares the server between payers. A request asks for its turn when its sender is
// known and its body has arrived: no turn is held while a client or an identity
// provider is waited for, and nobody pays for what others claim to be theirs.
type Turns interface {
	// Begin waits for the turn of a request, and returns for how long. The turn is nil if there
	// are too many others; then the request is refused.
	Begin(ctx context.Context, w Work) (t Turn, waited time.Duration)
}

// Turn is a request at work.
type Turn interface {
	// Pause is called during a long operation with its cost so far. It may wait until
	// others had their turn. If it returns true, the operation should end soon, as a query
	// does with a shorter page.
	Pause(ctx context.Context, cost int64) (end bool)
	// End ends the turn with the cost of the request.
	End(cost int64)
}

// Work is a request before its turn.
type Work struct {
	// Payer is the account of a request that was authenticated, else the network address of
	// the client, which is never the name of an account.
	Payer string
	// Known is set if the payer is an account.
	Known bool
	Write bool
	// Query is set if what the request costs depends on the data.
	Query bool
	// Cost is what the request costs at least.
	Cost int64
}
