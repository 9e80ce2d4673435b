package protocol

import (
	"context"
	"time"
)

// Turns shares the server between payers. A request asks for its turn when its sender is known
// and its body has arrived. So a request that waits for a client or an identity provider holds
// no turn, and nobody pays for a request that only claims to be theirs.
type Turns interface {
	// Begin waits for the turn of a request, and returns how long it waited. If too many others
	// wait, the turn is nil and the request is refused.
	Begin(ctx context.Context, w Work) (t Turn, waited time.Duration)
}

// Turn is held by a request while it runs.
type Turn interface {
	// Pause is called during a long operation with its cost so far. It may wait until
	// others had their turn. If it returns true, the operation should end soon, as a query
	// does with a shorter page.
	Pause(ctx context.Context, cost int64) (end bool)
	// End ends the turn and charges the cost of the request.
	End(cost int64)
}

// Work is a request before its turn.
type Work struct {
	// Payer is the account of an authenticated request, or else the network address of the
	// client. A network address is never the name of an account.
	Payer string
	// Known is set if the payer is an account.
	Known bool
	Write bool
	// Query is set if what the request costs depends on the data.
	Query bool
	// Cost is the minimum cost of the request.
	Cost int64
}
