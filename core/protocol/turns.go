package protocol

import (
	"context"
	"time"
)

// Turns shares the server fairly between payers: each request needs a turn, which is the permission to run.
// The handler asks for the turn when the payer is known and the body has arrived. So a request that waits for
// its client or for an identity provider has no turn, and nobody pays for a forged request.
type Turns interface {
	// Begin waits until a request may run. It returns the turn, and how long it waited. If too many other
	// requests are waiting, the turn is nil, and the handler refuses the request.
	Begin(ctx context.Context, w Work) (t Turn, waited time.Duration)
}

// Turn is the permission to run. A request holds it until it calls End.
type Turn interface {
	// Pause is called during a long operation with its cost so far. Pause may wait while other requests run.
	// If Pause returns true, the operation should end soon. A query, for example, then returns a shorter
	// page.
	Pause(ctx context.Context, cost int64) (end bool)
	// End ends the turn, and charges the cost of the request to the payer.
	End(cost int64)
}

// Work describes a request that waits in [Turns.Begin] for permission to run.
type Work struct {
	// Payer is the account of an authenticated request, and otherwise the network address of the client. The
	// text for an address is never the name of an account.
	Payer string
	// Known is set if the payer is an account.
	Known bool
	Write bool
	// Query is set if the cost of the request depends on the stored data.
	Query bool
	// Cost is the lowest cost that the request can have.
	Cost int64
}
