package protocol

import (
	"context"
	"time"

	"edgetable/core/table"
)

// chargeSource calls the function read, which reads from the store before the request is
// authenticated. The cost is charged to the client's network address.
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

// takeTurn waits until Turns permits the request to run. It returns ServerBusy if Turns refuses.
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

// pause returns the function for the field Pause of a [table.Query].
func (x *exchange) pause(ctx context.Context) func(rows, size int) bool {
	if x.turn == nil {
		return nil
	}
	before := x.currentCost(0)
	return func(rows, size int) bool { return x.turn.Pause(ctx, before+work(rows, size)) }
}
