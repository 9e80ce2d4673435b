package protocol

import (
	"context"
	"time"
)

// Turns shares the server fairly between payers: each request needs a turn, which is the permission
// to run. The handler asks for the turn when the payer is known and the body has arrived. So a request
// that waits for a client or an identity provider has no turn, and nobody is charged for a forged request.
type Turns interface {
	// Begin waits until a request may run, and returns how long it waited. If too many other requests
	// wait, the turn is nil and the handler refuses the request.
	Begin(ctx context.Context, w Work) (t Turn, waited time.Duration)
}

// Turn is the permission to run, which a request has until End.
type Turn interface {
	// Pause is called during a long operation with its cost so far. It may wait while other
	// requests run. If it returns true, the operation should end soon: a query, for example,
	// then returns a shorter page.
	Pause(ctx context.Context, cost int64) (end bool)
	// End ends the turn and charges the cost of the request.
	End(cost int64)
}

// Work describes a request that asks for a turn.
type Work struct {
	// Payer is the account of an authenticated request, or else the network address of the
	// client. A network address is never the name of an account.
	Payer string
	// Known is set if the payer is an account.
	Known bool
	Write bool
	// Query is set if the cost of the request depends on the stored data.
	Query bool
	// Cost is the minimum cost of the request.
	Cost int64
}
