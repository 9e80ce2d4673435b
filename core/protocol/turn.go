package protocol

import (
	"context"
	"time"

	"edgetable/core/table"
)

// Turns shares the server between payers. A request asks for its turn when its sender is
// known and its body has arrived: no turn is held while a client or an identity
// provider is waited for, and nobody pays for what others claim to be theirs.
type Turns interface {
	// Begin waits for the turn of a request. It returns nil if there are too many others;
	// then the request is refused. It sets Waited.
	Begin(ctx context.Context, w *Work) Turn
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
	// Waited is the time that it waited for its turn.
	Waited time.Duration
}

// inTurn reads the body, waits for a turn and runs the operation.
func (c *call) inTurn(ctx context.Context) (a answer, err error) {
	if c.operation.verb&(post|put|merge|patch) != 0 {
		b, err := c.readBody()
		c.whole = body{b, err, true}
		c.received = len(b)
	}
	err = c.takeTurn(ctx, Work{
		Payer: c.account.Name, Known: true, Write: c.operation.write,
		Query: c.route.resource == entitySet && !c.operation.write,
	})
	if err != nil {
		return answer{}, err
	}
	defer func() { c.endTurn(len(a.body)) }()
	return c.operation.run(c, ctx)
}

// asStranger reads from the store for a request that is not authenticated. Its address
// pays.
func (x *exchange) asStranger(ctx context.Context, read func() error) error {
	if x.Turns == nil || x.turn != nil {
		return read()
	}
	if err := x.takeTurn(ctx, Work{Payer: "?" + sourceKey(x.req.Source)}); err != nil {
		return err
	}
	defer x.endTurn(0)
	return read()
}

// takeTurn waits for a turn.
func (x *exchange) takeTurn(ctx context.Context, w Work) error {
	w.Cost = x.soFar(0)
	x.work = w // no allocation
	x.turn = x.Turns.Begin(ctx, &x.work)
	x.resp.Waited += x.work.Waited
	if x.turn == nil {
		x.resp.Refused = RefusedQueue
		return table.ServerBusy.Err()
	}
	return nil
}

func (x *exchange) endTurn(sent int) {
	x.turn.End(x.soFar(sent))
	x.turn = nil
}

// pause is [table.Query].Pause.
func (x *exchange) pause(ctx context.Context) func(rows, size int) bool {
	if x.turn == nil {
		return nil
	}
	before := x.soFar(0)
	return func(rows, size int) bool { return x.turn.Pause(ctx, before+work(rows, size)) }
}
