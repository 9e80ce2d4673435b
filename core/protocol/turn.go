package protocol

import (
	"context"
	"time"

	"edgetable/core/table"
)

// chargeSource runs a read of the store before authentication. The cost is charged to the client's network address.
func (x *exchange) chargeSource(ctx context.Context, read func() error) error {
	if x.Turns == nil || x.turn != nil {
		return read()
	}
	if err := x.takeTurn(ctx, Work{Payer: "?" + sourceKey(x.req.Source)}); err != nil {
		return err
	}
	defer x.endTurn(0)
	return read()
}

// takeTurn waits for a turn. It returns ServerBusy if Turns refuses the request.
func (x *exchange) takeTurn(ctx context.Context, w Work) error {
	w.Cost = x.currentCost(0)
	var waited time.Duration
	x.turn, waited = x.Turns.Begin(ctx, w)
	x.resp.Waited += waited
	if x.turn == nil {
		x.resp.Refused = RefusedQueue
		return table.ServerBusy.Err()
	}
	return nil
}

func (x *exchange) endTurn(sent int) {
	if x.turn != nil {
		x.turn.End(x.currentCost(sent))
		x.turn = nil
	}
}

// pause returns the Pause function for a [table.Query]. It returns nil if the request has no turn.
func (x *exchange) pause(ctx context.Context) func(rows, size int) bool {
	if x.turn == nil {
		return nil
	}
	before := x.currentCost(0)
	return func(rows, size int) bool { return x.turn.Pause(ctx, before+work(rows, size)) }
}
